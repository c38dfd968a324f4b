"""The schema of a store: which one it has, and how it gets the newest."""
