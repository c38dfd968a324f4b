"""The settings of the service, and where they come from."""
