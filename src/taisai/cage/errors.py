"""What goes wrong with the House's stream."""

from __future__ import annotations


class StreamError(Exception):
    """An event that cannot follow the ones before it: a defect, never a refusal."""
