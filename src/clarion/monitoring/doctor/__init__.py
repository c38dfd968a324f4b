"""Checks of an installation: what is wrong with it, and what to do."""
