"""How fast Taisai is: ratios against the alternatives, measured side by side in one run, never bare seconds."""
