"""HTTP endpoints, pages, schemas, and the WebSocket."""
