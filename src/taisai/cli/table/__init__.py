"""The commands that play a table from a playbook."""
