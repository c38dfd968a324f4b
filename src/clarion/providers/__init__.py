"""Providers: who can carry a message, and what they need to be told."""
