"""Connections: the HTTP/1.1 protocol on a socket, and who may have how many."""
