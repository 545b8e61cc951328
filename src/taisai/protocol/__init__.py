"""The messages between the server and its clients, and their published schemas."""
