"""Responses: what operations return besides plain results, and what is sent."""

from collections.abc import Sequence
from typing import Generic, TypeVar

from msgspec import Struct
from starlette.types import Send

from clarion.http.input.unknown import InputWarning
from clarion.http.static import HeaderList

T = TypeVar("T")


class JsonResponse(Struct, Generic[T], frozen=True):
    """A body with another status than the operation's default."""

    status: int
    body: T


class RawResponse(Struct, frozen=True):
    """A response that is not JSON."""

    status: int
    content_type: bytes
    body: bytes


class PageResponse(RawResponse, frozen=True):
    """A page for people."""


class ImageResponse(RawResponse, frozen=True):
    """A GIF."""


class Response(Struct, frozen=True):
    """A response, encoded and ready to be sent."""

    status: int
    body: bytes
    is_replayed: bool = False
    warnings: Sequence[InputWarning] = ()
    """Not stored with the response: those about members of the body come again when it is read."""
    content_type: bytes = b"application/json"


async def send_response(send: Send, status: int, headers: HeaderList, body: bytes) -> None:
    """Send a response; `headers` have its length."""
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
