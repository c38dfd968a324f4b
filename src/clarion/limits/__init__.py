"""How many requests an environment may send in a time."""
