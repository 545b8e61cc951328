"""The commands about journals, their keys and their backups."""
