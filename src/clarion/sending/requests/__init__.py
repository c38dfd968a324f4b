"""Requests of HTTP steps: claimed, made, tried again and recorded as sends are."""
