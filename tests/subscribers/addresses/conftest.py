"""The engine of tests/engine, and the sessions of tests/inbox."""

from tests.engine.conftest import world
from tests.inbox.conftest import make_person

__all__ = ["make_person", "world"]
