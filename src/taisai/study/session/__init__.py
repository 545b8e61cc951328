"""Sessions: what many rounds come to, exactly, and how a staking system ends."""
