"""Unsubscribing without logging in: signed links, their pages, and one-click requests of mail programs."""
