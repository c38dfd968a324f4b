"""Traces: the W3C context of requests and triggers, and spans for an OpenTelemetry collector."""
