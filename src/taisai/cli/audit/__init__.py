"""The commands for auditors."""
