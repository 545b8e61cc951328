"""Dice: what devices read of the dice, and the draws of the demonstration shaker."""
