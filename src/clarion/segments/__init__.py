"""Segments: people who meet a condition."""
