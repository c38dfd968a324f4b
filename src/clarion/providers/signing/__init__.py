"""Signatures: those that requests carry, and those that receipts are checked by."""
