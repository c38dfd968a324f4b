"""The connections to all servers: kept for a while after a call, and opened to checked addresses only."""

import asyncio
import socket
import ssl
from ipaddress import IPv6Address
from typing import NamedTuple

from aiohappyeyeballs import AddrInfoType, start_connection

from clarion.providers.transport.egress import Address, EgressGuard
from clarion.providers.transport.http1.connection import Http1Connection

_IDLE_SECONDS = 15
_NAMES_CACHED_SECONDS = 10
_NEXT_ADDRESS_SECONDS = 0.25
"""A server that does not accept a connection so long is also tried at its next address (RFC 8305)."""


class Origin(NamedTuple):
    """A server, as URLs name it."""

    is_encrypted: bool
    host: str
    port: int


class Http1Pool:
    """Connections that wait for the next call, by their server; without a limit, because the engine has one."""

    def __init__(self, egress: EgressGuard) -> None:
        self._egress = egress
        self._tls: ssl.SSLContext | None = None
        self._idle: dict[Origin, list[Http1Connection]] = {}
        self._look_ups: dict[Origin, asyncio.Task[list[Address]]] = {}
        self._sweep: asyncio.TimerHandle | None = None

    async def get(self, origin: Origin) -> Http1Connection:
        """Take a connection to the server, or open one; raises SendFailure, OSError or ssl.SSLError."""
        idle = self._idle.get(origin)
        while idle:
            connection = idle.pop()
            if connection.is_usable:
                return connection
        return await self._open(origin)

    def put_back(self, origin: Origin, connection: Http1Connection) -> None:
        """Keep a connection for another call, if it can have one."""
        if not connection.is_usable:
            return
        loop = asyncio.get_running_loop()
        connection.idle_since = loop.time()
        self._idle.setdefault(origin, []).append(connection)
        if self._sweep is None:
            self._sweep = loop.call_later(_IDLE_SECONDS, self._close_idle)

    def close(self) -> None:
        if self._sweep is not None:
            self._sweep.cancel()
        for connections in self._idle.values():
            for one in connections:
                one.abort()
        self._idle.clear()
        for look_up in self._look_ups.values():
            look_up.cancel()

    def _close_idle(self) -> None:
        """Close what nobody has used for a while, and look again later."""
        loop = asyncio.get_running_loop()
        horizon = loop.time() - _IDLE_SECONDS
        for origin, connections in list(self._idle.items()):
            recent = [one for one in connections if one.is_usable and one.idle_since > horizon]
            for one in connections:
                if one.idle_since <= horizon:
                    one.abort()
            if recent:
                self._idle[origin] = recent
            else:
                del self._idle[origin]
        self._sweep = loop.call_later(_IDLE_SECONDS, self._close_idle) if self._idle else None

    async def _open(self, origin: Origin) -> Http1Connection:
        loop = asyncio.get_running_loop()
        tls = await self._get_tls() if origin.is_encrypted else None
        addresses = [_address_info(one, origin.port) for one in await self._look_up(origin)]
        try:
            opened = await start_connection(addresses, happy_eyeballs_delay=_NEXT_ADDRESS_SECONDS)
        except RuntimeError as error:
            # Raised by uvloop for a connection that is closed while it is opened.
            raise ConnectionAbortedError from error
        try:
            # The name is used only to verify the certificate.
            _, connection = await loop.create_connection(
                Http1Connection,
                sock=opened,
                ssl=tls,
                server_hostname=origin.host.rstrip(".") if origin.is_encrypted else None,
            )
        except BaseException:
            opened.close()
            raise
        return connection

    async def _get_tls(self) -> ssl.SSLContext:
        if self._tls is None:
            # It reads all certificates of the system, which takes some time.
            self._tls = await asyncio.to_thread(_make_tls)
        return self._tls

    async def _look_up(self, origin: Origin) -> list[Address]:
        """The addresses of a server: looked up once for all connections that are opened within some seconds."""
        task = self._look_ups.get(origin)
        if task is None:
            loop = asyncio.get_running_loop()
            task = self._look_ups[origin] = loop.create_task(self._egress.resolve(origin.host, origin.port))
            task.add_done_callback(lambda done: self._forget_look_up(origin, done))
        # The others wait for it too, so it is not canceled with one of them.
        return await asyncio.shield(task)

    def _forget_look_up(self, origin: Origin, task: asyncio.Task[list[Address]]) -> None:
        if task.cancelled() or task.exception() is not None:
            del self._look_ups[origin]
        else:
            asyncio.get_running_loop().call_later(_NAMES_CACHED_SECONDS, self._look_ups.pop, origin)


def _make_tls() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _address_info(address: Address, port: int) -> AddrInfoType:
    if isinstance(address, IPv6Address):
        return (socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (str(address), port, 0, 0))
    return (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (str(address), port))
