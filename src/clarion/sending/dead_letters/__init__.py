"""Dead letters: sends that were given up, to inspect and redrive."""
