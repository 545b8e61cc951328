"""Short proofs of what is in a journal, and how it grew."""
