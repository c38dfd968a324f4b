"""Invitations, resets of passwords, and the mail that brings them."""
