"""Sending: jobs that need a provider are claimed, sent outside any transaction, and recorded."""
