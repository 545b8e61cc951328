"""The shoe: exact odds of the card game for any composition, and what counting the cards would earn."""
