"""The commands about a table in play."""
