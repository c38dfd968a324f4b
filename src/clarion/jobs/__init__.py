"""Jobs: the steps of a run, each with its own life from pending to an end state."""
