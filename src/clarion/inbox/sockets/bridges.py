"""Between processes: what one publishes, the others receive. Messages may be lost; then everybody is counted again.

PostgreSQL is the bridge, or NATS where `CLARION_BUS_URL=nats://…` names one (the extra `clarion[nats]`).
"""

import asyncio
import logging
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from clarion.db.port import Database
from clarion.errors import SettingsError, StoreUnavailable
from clarion.secret import Secret

CHANNEL = "clarion_inbox"

SUBJECT = "clarion.inbox"

_CONNECT_SECONDS = 5
_RECONNECT_SECONDS = 0.5
_MAX_BACKOFF_SECONDS = 5.0
_PING_SECONDS = 10

log = logging.getLogger(__name__)


class Bridge(Protocol):
    max_bytes: int
    """The longest message."""

    async def start(self, on_message: Callable[[str], None], on_resumed: Callable[[], None]) -> None:
        """Receive from now on, when a connection is made; `on_resumed` is called when messages may have been lost."""
        ...

    async def publish(self, messages: Sequence[str]) -> None: ...

    async def close(self) -> None: ...


class PostgresBridge:
    """NOTIFY and LISTEN. A notification is a transaction of its own: as part of others it would serialise commits."""

    max_bytes = 7900

    def __init__(self, database: Database) -> None:
        self._database = database

    async def start(self, on_message: Callable[[str], None], on_resumed: Callable[[], None]) -> None:
        await self._database.listen(CHANNEL, on_message, on_resumed)

    async def publish(self, messages: Sequence[str]) -> None:
        try:
            await self._database.notify(CHANNEL, messages)
        except StoreUnavailable as error:
            log.warning("Announcement lost", extra={"error": str(error)})

    async def close(self) -> None:
        """The connection belongs to the database."""


class NatsBridge:
    """Publishes to one subject. Without a connection messages are lost, and everybody is counted when it is back."""

    max_bytes = 64 * 1024

    def __init__(self, url: Secret) -> None:
        """Raises SettingsError if the client library is not installed."""
        try:
            import nats  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise SettingsError("CLARION_BUS_URL needs the NATS client: pip install 'clarion[nats]'.") from error
        self._connect: Any = nats.connect
        self._errors: tuple[type[Exception], ...] = (nats.errors.Error, OSError, TimeoutError)
        self._url = url
        self._client: Any = None

    async def start(self, on_message: Callable[[str], None], on_resumed: Callable[[], None]) -> None:
        async def receive(message: Any) -> None:
            on_message(message.data.decode())

        async def resume() -> None:
            log.info("NATS connection replaced")
            on_resumed()

        async def lose() -> None:
            log.warning("NATS connection lost")

        async def report(error: Exception) -> None:
            log.warning("NATS error", extra={"error": type(error).__name__})

        options = {"reconnected_cb": resume, "disconnected_cb": lose, "error_cb": report}
        if self._client is None:
            await self._connect_until_done(options)
        await self._client.subscribe(SUBJECT, cb=receive)
        on_resumed()

    async def publish(self, messages: Sequence[str]) -> None:
        if self._client is None or not self._client.is_connected:
            log.warning("Announcement lost", extra={"error": "no connection to NATS"})
            return
        try:
            for one in messages:
                await self._client.publish(SUBJECT, one.encode())
        except self._errors as error:
            log.warning("Announcement lost", extra={"error": type(error).__name__})

    async def close(self) -> None:
        if self._client is not None:
            with suppress(*self._errors):
                await self._client.close()

    async def _connect_until_done(self, options: dict[str, Any]) -> None:
        """Connect, and try again as long as NATS cannot be reached: in one process, sockets work without it."""
        backoff = _RECONNECT_SECONDS
        while True:
            try:
                self._client = await self._connect(
                    self._url.reveal(),
                    connect_timeout=_CONNECT_SECONDS,
                    reconnect_time_wait=_RECONNECT_SECONDS,
                    max_reconnect_attempts=-1,
                    ping_interval=_PING_SECONDS,
                    allow_reconnect=True,
                    no_echo=True,
                    **options,
                )
            except self._errors as error:
                # Without its text, which may repeat the address and its password.
                log.warning("NATS not reached", extra={"error": type(error).__name__})
                await asyncio.sleep(backoff * random.uniform(0.5, 1.0))  # noqa: S311 - no secret
                backoff = min(2 * backoff, _MAX_BACKOFF_SECONDS)
            else:
                return
