"""Organizations, environments and API keys."""
