"""Promotion: what differs between two environments, and copying it from one to the other."""
