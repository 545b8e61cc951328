"""The commands of game mathematicians: one module a command, all exact first."""
