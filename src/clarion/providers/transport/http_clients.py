"""The HTTP clients, each imported and opened on first use.

A process starts faster without them, and few installations need HTTP/2.
"""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from clarion.clock import Clock
from clarion.providers.transport.calls import RewriteUrl
from clarion.providers.transport.egress import EgressGuard

if TYPE_CHECKING:
    from clarion.providers.transport.http1 import Http1Client
    from clarion.providers.transport.http2 import Http2Client


class HttpClients:
    """One client for each protocol version, shared by all providers of a process."""

    def __init__(
        self, egress: EgressGuard, *, seconds: float, clock: Clock, rewrite_url: RewriteUrl | None = None
    ) -> None:
        self._egress = egress
        self._seconds = seconds
        self._clock = clock
        self._rewrite_url = rewrite_url
        self._http1: Http1Client | None = None
        self._http2: Http2Client | None = None

    def prepare(self) -> None:
        """Import the HTTP/1.1 client in the background, so that the first call does not wait for it."""
        asyncio.get_running_loop().run_in_executor(None, import_module, "clarion.providers.transport.http1")

    @property
    def http1(self) -> "Http1Client":
        if self._http1 is None:
            from clarion.providers.transport.http1 import Http1Client  # noqa: PLC0415

            self._http1 = Http1Client(
                self._egress, seconds=self._seconds, clock=self._clock, rewrite_url=self._rewrite_url
            )
        return self._http1

    @property
    def http2(self) -> "Http2Client":
        if self._http2 is None:
            from clarion.providers.transport.http2 import Http2Client  # noqa: PLC0415

            self._http2 = Http2Client(
                self._egress, seconds=self._seconds, clock=self._clock, rewrite_url=self._rewrite_url
            )
        return self._http2

    async def close(self) -> None:
        for client in (self._http1, self._http2):
            if client is not None:
                await client.close()
