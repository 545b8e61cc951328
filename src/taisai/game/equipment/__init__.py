"""Equipment: the items on a table and their inspections, and the shoe of a card game."""
