"""The engine of the tests, which works when told to."""

from tests.engine.conftest import _log_no_errors, logged_errors, world

__all__ = ["_log_no_errors", "logged_errors", "world"]
