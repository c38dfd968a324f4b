"""Preferences: which channels each subscriber switched on or off."""
