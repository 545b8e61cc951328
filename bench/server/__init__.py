"""The floor under load, beside a bare server of the same kind in the same run."""
