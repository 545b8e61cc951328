"""What seals a journal: the tree over its entries, keys, signed checkpoints."""
