"""Seating: the seats of a table, and the players and terminals that take them."""
