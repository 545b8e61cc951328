"""How fast Taisai is: ratios against the alternatives, measured in turns in one run, never bare seconds."""
