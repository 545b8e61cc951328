"""Authentication and permissions: passwords, second factors, sessions, approvals, devices, roles."""
