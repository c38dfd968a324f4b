"""Topics: groups of subscribers."""
