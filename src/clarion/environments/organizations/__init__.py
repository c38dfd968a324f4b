"""Organizations, and the life of their environments: how they are set up and deleted."""
