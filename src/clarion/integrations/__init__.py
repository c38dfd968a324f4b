"""Integrations: an environment's accounts at providers."""
