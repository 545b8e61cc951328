"""The messages between the floor and the people around it, and their published schemas."""
