"""Organizations, environments and API keys: who is calling."""
