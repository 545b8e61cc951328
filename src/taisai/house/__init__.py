"""What must outlive the night: journal, keys, audit."""
