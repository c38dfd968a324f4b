"""What the rest of the program knows of a database.

Work is handed over as an async function of a connection, a *unit of work*, and not as an open transaction:
SQLite's writer thread can then run many units in one commit, and PostgreSQL can run one again after a deadlock.
A unit awaits its connection and nothing else.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol, TypeAlias, TypeVar

from clarion.cache import Caches
from clarion.db.query import Insert, Query

T = TypeVar("T")

Row: TypeAlias = Mapping[str, Any]


class Dialect(StrEnum):
    SQLITE = "sqlite"
    POSTGRES = "postgresql"


class Connection(Protocol):
    """Runs statements inside one unit of work."""

    @property
    def dialect(self) -> Dialect: ...

    @property
    def caches(self) -> Caches:
        """What this process caches of the database. Values outlive the unit of work, even one that is rolled back."""
        ...

    async def fetch(self, query: Query, /, **parameters: Any) -> Sequence[Row]: ...

    async def fetch_one(self, query: Query, /, **parameters: Any) -> Row | None: ...

    async def execute(self, query: Query, /, **parameters: Any) -> int:
        """Run a statement and tell how many rows it changed."""
        ...

    async def execute_many(self, query: Query, rows: Sequence[dict[str, Any]], /) -> None: ...

    async def insert_many(self, into: Insert, rows: Sequence[tuple[Any, ...]], /) -> None:
        """Write new rows in bulk; one that is there already is an error, unless the insert says otherwise."""
        ...


Work: TypeAlias = Callable[[Connection], Coroutine[Any, Any, T]]


class Database(Protocol):
    """A store that units of work are handed to."""

    @property
    def dialect(self) -> Dialect: ...

    async def transaction(self, work: Work[T]) -> T:
        """Run `work` in a transaction and return when it is durable; an exception undoes it."""
        ...

    async def read(self, work: Work[T]) -> T:
        """Run a few index look-ups."""
        ...

    async def scan(self, work: Work[T]) -> T:
        """Run reads that may touch many rows, on one snapshot, without holding up the event loop."""
        ...

    async def announce_work(self) -> None:
        """Tell other processes on this store that there is work; only a hint."""
        ...

    async def listen_for_work(self, listener: Callable[[], None]) -> None:
        """Call the listener whenever another process announces work."""
        ...

    async def renew_statistics(self) -> None:
        """Let the planner know of tables that have grown a lot since it looked."""
        ...

    async def close(self) -> None: ...
