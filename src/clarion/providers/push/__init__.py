"""Push providers, one module each."""
