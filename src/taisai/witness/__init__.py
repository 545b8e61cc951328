"""The witness: remembers the latest checkpoint of a journal where the journal's house cannot change it.

A witness speaks c2sp.org/tlog-witness. It needs no game: `taisai witness serve` runs one on its own host.
"""
