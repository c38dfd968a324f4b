"""What workflows did in a time."""
