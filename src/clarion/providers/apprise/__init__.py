"""Apprise: services that Apprise can send to, for installations of `clarion[apprise]`."""
