"""Between processes: what one publishes, the others receive. Messages may be lost; then everybody is counted again."""

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from clarion.db.port import Database
from clarion.errors import StoreUnavailable

CHANNEL = "clarion_inbox"

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
