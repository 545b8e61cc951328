"""Exact figures of a session: the total of many rounds, and the probability of ruin."""
