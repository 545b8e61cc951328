"""What is asked of the floor, and how each ask is answered."""
