"""What was played or settled by hand while the system was down, and is entered afterwards."""
