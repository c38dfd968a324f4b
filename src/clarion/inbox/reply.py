"""Shapes that all operations of the inbox share."""

from typing import Generic, TypeVar

from clarion.http.wire import Wire

T = TypeVar("T")


class Reply(Wire, Generic[T]):
    """Clients of the inbox expect an object with `data`."""

    data: T
    """The answer itself."""
