"""Irregularities: what went wrong and its ruling, referrals, withdrawals, and stops of the system."""
