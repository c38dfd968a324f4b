"""Providers: how Clarion sends messages through each of them."""
