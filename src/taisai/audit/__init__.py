"""The audit of a journal: verify, retell, export and prove it, without trust in the program that wrote it."""

from taisai.audit.verify import Report, verified

__all__ = ["Report", "verified"]
