"""The card game: exact odds for any cards left in the shoe, and the expected gain of card counting."""
