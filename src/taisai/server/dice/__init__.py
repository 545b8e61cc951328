"""Dice in: the dealer's keys, a recognising device, the demonstration shaker. There is no other door."""
