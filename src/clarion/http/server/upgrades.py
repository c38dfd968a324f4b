"""Requests that ask for another protocol than HTTP on their connection."""

import asyncio
from typing import Protocol

from msgspec import Struct


class UpgradeRequest(Struct, frozen=True, kw_only=True):
    """A request to go on with websockets. Its query may have a secret: it is never logged."""

    method: str
    path: bytes
    query: bytes
    headers: list[tuple[bytes, bytes]]
    """Names are in lower case."""
    address: str
    """Of the connection: that of the client, or of the proxy next to this service."""


class UpgradeRefusal(Struct, frozen=True):
    status: int
    message: str


class Upgrader(Protocol):
    """Decides about requests for websockets."""

    paths: frozenset[bytes]

    def upgrade(self, request: UpgradeRequest) -> asyncio.Protocol | UpgradeRefusal:
        """Return the protocol that takes over the connection, or why it does not."""
        ...
