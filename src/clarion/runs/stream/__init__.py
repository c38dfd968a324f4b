"""Changes of runs as they happen."""
