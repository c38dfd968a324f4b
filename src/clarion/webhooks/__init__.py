"""Webhooks: events of an environment, posted to the endpoints that it registers."""
