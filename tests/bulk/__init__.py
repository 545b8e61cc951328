"""Tests of the arrays: they must agree with the plain matrix on everything."""
