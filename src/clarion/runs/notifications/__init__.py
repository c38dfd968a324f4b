"""Notifications: the record of one trigger for one subscriber."""
