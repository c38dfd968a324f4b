"""Hooks of providers for inbound mail: each form is read into the same mail."""
