"""Schedules: they trigger a workflow again and again, at the moments of a rule."""
