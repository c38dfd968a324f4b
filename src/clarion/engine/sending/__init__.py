"""Sending: jobs that need a provider are claimed, carried outside any transaction, and recorded."""
