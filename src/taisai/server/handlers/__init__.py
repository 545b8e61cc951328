"""Handlers: a function for each kind of request."""
