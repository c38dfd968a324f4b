"""One module for each kind of step: what it comes to for a run."""
