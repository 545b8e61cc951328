"""The demonstration: a house of play money with virtual people, open to visitors without a password."""
