"""The floor over HTTP and WebSocket: endpoints, pages, schemas, and the socket's door."""
