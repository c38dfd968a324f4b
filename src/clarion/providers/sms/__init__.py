"""SMS providers, one module each."""
