"""What starts, runs and stops the server."""
