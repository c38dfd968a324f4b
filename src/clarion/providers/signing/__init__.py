"""Signatures of requests and of receipts."""
