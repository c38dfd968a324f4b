"""Suppressions: addresses that nothing is sent to."""
