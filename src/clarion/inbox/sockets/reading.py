"""How to read for many people: a few on the event loop, many without blocking it."""

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from clarion.db.port import Database, Work

T = TypeVar("T")
MAX_ON_LOOP = 32


def choose_read(database: Database, count: int) -> Callable[[Work[T]], Coroutine[Any, Any, T]]:
    return database.read if count <= MAX_ON_LOOP else database.scan
