"""Exact mathematics over the compiled rules."""
