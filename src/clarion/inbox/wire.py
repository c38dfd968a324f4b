"""Shapes that all operations of the inbox share."""

from typing import Generic, TypeVar

from clarion.http.wire import Wire

T = TypeVar("T")


class Data(Wire, Generic[T]):
    """The envelope that clients of the inbox expect."""

    data: T
