"""Where entries are kept: one contract, in memory or in a SQLite file."""
