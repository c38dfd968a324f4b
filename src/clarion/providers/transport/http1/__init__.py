"""Calling providers over HTTP/1.1."""
