"""The HTTP layer: typed operations in, exact JSON out."""
