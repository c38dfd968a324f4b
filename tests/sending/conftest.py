"""The fixtures of the engine, which sends what it decides."""

from tests.engine.conftest import _log_no_errors, logged_errors, world

__all__ = ["_log_no_errors", "logged_errors", "world"]
