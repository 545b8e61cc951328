"""Betting: bets placed by terminals, recorded by staff, taken back and moved."""
