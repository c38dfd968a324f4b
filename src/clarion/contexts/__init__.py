"""Contexts: what messages, inboxes and preferences belong to, such as tenants, with data for templates."""
