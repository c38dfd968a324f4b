"""What each execution detail says about a decision, by the code of the detail."""
