"""Workflows: what happens when an event is triggered."""
