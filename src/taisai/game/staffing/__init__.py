"""Staffing: who works at a table, and in which position."""
