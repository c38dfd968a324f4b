"""Sending: the gateway that sends messages through providers, and redaction of secrets."""
