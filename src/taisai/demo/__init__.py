"""The demonstration: a house of play money, its people and tables, and how anyone comes in with one click."""
