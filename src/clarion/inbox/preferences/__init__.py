"""The preferences of the person of a session."""
