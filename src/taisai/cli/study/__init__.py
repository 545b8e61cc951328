"""The commands of game mathematicians: exact studies, sessions, simulation, dice, recorded play."""
