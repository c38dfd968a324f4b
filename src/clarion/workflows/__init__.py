"""Workflows: the steps that run when an event is triggered."""
