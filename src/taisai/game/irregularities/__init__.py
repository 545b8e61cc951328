"""Irregularities: what went wrong, the ruling of the rulebook, referrals, withdrawals and stops of the system."""
