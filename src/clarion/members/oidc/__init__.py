"""Signing in with an identity provider (OpenID Connect)."""
