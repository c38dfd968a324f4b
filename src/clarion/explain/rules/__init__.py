"""What each execution detail says about a decision, by the text of the detail."""
