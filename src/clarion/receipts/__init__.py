"""Receipts: what providers report of messages after they took them."""
