"""A journal written out: line by line as it is signed, or as tables."""
