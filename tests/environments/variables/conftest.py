"""Fixtures: members with sessions, as in tests/members."""

from tests.members.conftest import make_browser, open_browser, password_hash

__all__ = ["make_browser", "open_browser", "password_hash"]
