"""Providers of SMS, one file each."""
