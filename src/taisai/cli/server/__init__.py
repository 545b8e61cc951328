"""The commands that set up, run and watch the server of a house."""
