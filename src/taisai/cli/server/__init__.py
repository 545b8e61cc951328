"""`taisai init`, `approve` and the live floor."""
