"""Members of the team and what they may do."""
