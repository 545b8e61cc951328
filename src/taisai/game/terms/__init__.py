"""Terms: opening and closing a table, and the settings, odds and limits it is played under."""
