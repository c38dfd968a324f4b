"""Runs as a person watches them: slim rows by status, counts over time, and a live stream."""
