"""Subscribers: the people that messages go to."""
