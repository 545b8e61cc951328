"""Listening for connections: the limits that the server of a house and a witness share."""
