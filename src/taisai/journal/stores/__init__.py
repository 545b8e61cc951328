"""Stores of entries: one contract, in memory or in a SQLite file."""
