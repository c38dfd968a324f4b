"""Triggers: requests to run a workflow."""
