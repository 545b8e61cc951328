"""Stores of entries: one contract, in memory, in a SQLite file or in a PostgreSQL database."""
