"""Results of dice: keyed by the Dealer, read by a device, drawn by the demonstration shaker."""
