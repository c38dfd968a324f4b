"""Seeing into a running installation: metrics, health, and the processes that are alive."""
