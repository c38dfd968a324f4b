"""Signing in with a password, and the sessions of browsers."""
