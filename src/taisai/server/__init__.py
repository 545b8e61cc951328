"""The live system: one process that runs every table of a house over one durable journal."""
