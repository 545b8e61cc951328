"""Who comes in, and as what: passwords, second factors, sessions, second persons' agreement, devices."""
