"""Built-in providers and their names."""
