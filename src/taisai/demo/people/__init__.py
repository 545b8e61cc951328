"""Virtual people of the demonstration: they come in as anyone does, and know what the floor tells them."""
