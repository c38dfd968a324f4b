"""Replies to e-mails: addresses that name the message, and mail that comes in at them by hooks of providers."""
