"""Money: the ledger of a table, credits and chips, transfers with the cage, and claims."""
