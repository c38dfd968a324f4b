"""What calls to providers go through: each client is loaded and opened when it is first needed.

Loading them takes as long as a fifth of all the rest of a start, and few sites ever need the one for HTTP/2.
"""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from clarion.clock import Clock
from clarion.providers.transport.egress import EgressGuard
from clarion.providers.transport.urls import Reroute

if TYPE_CHECKING:
    from clarion.providers.transport.http1 import WebClient
    from clarion.providers.transport.http2 import Http2Client


class HttpClients:
    """One of each kind for all providers of a process."""

    def __init__(self, egress: EgressGuard, *, seconds: float, clock: Clock, reroute: Reroute | None = None) -> None:
        self._egress = egress
        self._seconds = seconds
        self._clock = clock
        self._reroute = reroute
        self._web: WebClient | None = None
        self._http2: Http2Client | None = None

    def prepare(self) -> None:
        """Load what most calls need while other things are done, so that the first call need not wait for it."""
        asyncio.get_running_loop().run_in_executor(None, import_module, "clarion.providers.transport.http1")

    @property
    def web(self) -> "WebClient":
        if self._web is None:
            from clarion.providers.transport.http1 import WebClient  # noqa: PLC0415

            self._web = WebClient(self._egress, seconds=self._seconds, clock=self._clock, reroute=self._reroute)
        return self._web

    @property
    def http2(self) -> "Http2Client":
        if self._http2 is None:
            from clarion.providers.transport.http2 import Http2Client  # noqa: PLC0415

            self._http2 = Http2Client(self._egress, seconds=self._seconds, clock=self._clock, reroute=self._reroute)
        return self._http2

    async def close(self) -> None:
        for client in (self._web, self._http2):
            if client is not None:
                await client.close()
