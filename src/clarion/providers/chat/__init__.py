"""Chat providers, one module each."""
