"""Chat providers, one file each."""
