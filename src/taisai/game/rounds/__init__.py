"""Rounds: the steps of a round, its settlement, and corrections of rounds that are over."""
