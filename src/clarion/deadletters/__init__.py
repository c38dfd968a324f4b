"""Dead letters: sends that were given up, to be looked at and tried again."""
