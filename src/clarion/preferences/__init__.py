"""Preferences: what each person wants to receive."""
