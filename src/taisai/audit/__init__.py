"""The audit of a journal, by those who do not take our word for it."""

from taisai.audit.verify import Report, verified

__all__ = ["Report", "verified"]
