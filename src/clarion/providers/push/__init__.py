"""Providers of push notifications, one file each."""
