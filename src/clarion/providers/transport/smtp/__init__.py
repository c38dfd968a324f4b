"""SMTP: a pool of connections for each account."""
