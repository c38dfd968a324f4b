"""Webhooks: what happens in an environment, told to the endpoints that it names."""
