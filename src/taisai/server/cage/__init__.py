"""The cage on the live floor: what goes between it and the tables, and what its books and reports say."""
