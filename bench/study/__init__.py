"""The study measured against its peers and against the bare limit."""
