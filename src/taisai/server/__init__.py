"""The live system."""
