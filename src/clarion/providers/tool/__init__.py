"""Providers of tools that on-call teams use, and webhooks: one module each."""
