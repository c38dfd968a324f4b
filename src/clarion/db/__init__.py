"""The store: one port, two databases."""
