"""Clarion: notification infrastructure in one package."""

__version__ = "0.1.0"
