"""The commands about rulebooks."""
