"""The topics of the person of a session."""
