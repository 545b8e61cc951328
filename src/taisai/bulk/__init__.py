"""The matrix on arrays: many bets, many rounds at once. Needs NumPy; numba makes it faster where it is present."""
