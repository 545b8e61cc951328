"""Connections: sockets, their outboxes, the feeds they follow, and the dispatch of their requests."""
