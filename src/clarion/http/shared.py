"""Objects of features above this layer that all requests of a process share."""

from typing import TypeVar

T = TypeVar("T")


class Shared:
    """One object of each type, put in by the composition root."""

    def __init__(self) -> None:
        self._objects: dict[type, object] = {}

    def put(self, kind: type[T], one: T) -> None:
        self._objects[kind] = one

    def get(self, kind: type[T]) -> T:
        found = self._objects[kind]
        if not isinstance(found, kind):
            raise TypeError(f"{found!r} is not a {kind.__name__}")
        return found
