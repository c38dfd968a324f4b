"""Definitions: what a provider is, what it is sent, how its answers and receipts are read."""
