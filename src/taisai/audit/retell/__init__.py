"""A journal retold: its rounds, and who did what when in one of them."""
