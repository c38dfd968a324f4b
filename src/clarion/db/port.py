"""The interface of databases, implemented for SQLite and PostgreSQL.

Callers do not open transactions. They pass a *unit of work*, an async function of a connection: SQLite's writer thread
commits many units together, and PostgreSQL retries a unit after a deadlock. A unit must await nothing but its
connection.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol, TypeAlias, TypeVar

from clarion.cache import Caches
from clarion.db.query import Insert, Query
from clarion.ids import EnvironmentId

T = TypeVar("T")

Row: TypeAlias = Mapping[str, Any]


class Dialect(StrEnum):
    SQLITE = "sqlite"
    POSTGRES = "postgresql"


class Connection(Protocol):
    """Runs the statements of one unit of work."""

    @property
    def dialect(self) -> Dialect: ...

    @property
    def is_sandbox(self) -> bool:
        """Whether nobody else sees what is written, so that nothing has to be locked."""
        ...

    @property
    def caches(self) -> Caches:
        """What this process caches of the database. Values outlive the unit of work, even one that is rolled back."""
        ...

    async def fetch(self, query: Query, /, **parameters: Any) -> Sequence[Row]: ...

    async def fetch_values(self, query: Query, /, **parameters: Any) -> Sequence[Sequence[Any]]:
        """As `fetch`, with the values of a row in the order of the columns: it costs less for long lists."""
        ...

    async def fetch_one(self, query: Query, /, **parameters: Any) -> Row | None: ...

    async def execute(self, query: Query, /, **parameters: Any) -> int:
        """Run a statement; returns how many rows it changed."""
        ...

    async def execute_many(self, query: Query, rows: Sequence[dict[str, Any]], /) -> None: ...

    async def insert_many(self, into: Insert, rows: Sequence[tuple[Any, ...]], /) -> int:
        """Insert rows in bulk; returns how many were inserted.

        A conflict with an existing row is an error unless `into` has an ON CONFLICT clause.
        """
        ...


Work: TypeAlias = Callable[[Connection], Coroutine[Any, Any, T]]


class Transactions(Protocol):
    """Runs units of work that are rolled back when they fail."""

    async def transaction(self, work: Work[T]) -> T:
        """Run `work` in a transaction and return when it is durable; an exception rolls it back."""
        ...


class Sandbox(Connection, Transactions, Protocol):
    """A connection with empty tables of its own in place of some of the store's: see `db/sandbox.py`.

    Its transactions are parts of the one that is forgotten at the end.
    """

    async def copy(self, table: str, where: str, /, **parameters: Any) -> int:
        """Copy rows of a hidden table from the store, but those that are here already; returns how many.

        `where` is SQL about the alias `t`. `stored.jobs` in it is the table of the store, `jobs` that of the sandbox.
        """
        ...

    async def fetch_stored(self, text: str, /, **parameters: Any) -> Sequence[Row]:
        """Run a query in which `stored.jobs` is the table of the store."""
        ...


SandboxWork: TypeAlias = Callable[[Sandbox], Coroutine[Any, Any, T]]


class Database(Transactions, Protocol):
    """Runs units of work."""

    @property
    def dialect(self) -> Dialect: ...

    async def read(self, work: Work[T]) -> T:
        """Run reads of a few rows, found by an index."""
        ...

    async def scan(self, work: Work[T]) -> T:
        """Run reads that may touch many rows, on one snapshot and without blocking the event loop."""
        ...

    async def sandbox(self, environment_id: EnvironmentId, work: SandboxWork[T]) -> T:
        """Run `work` on a snapshot, beside all other units, and forget everything that it writes.

        Those of an environment run one after the other, with rests: see `db/sandbox.py`.
        """
        ...

    async def notify_workers(self) -> None:
        """Wake the workers of other processes. Notifications may be lost, so workers also poll."""
        ...

    async def listen_for_work(self, listener: Callable[[], None]) -> None:
        """Call the listener whenever another process notifies the workers, or notifications may have been lost."""
        ...

    async def notify(self, channel: str, payloads: Sequence[str]) -> None:
        """Send texts of less than 8000 bytes to all processes that listen, this one included."""
        ...

    async def listen(self, channel: str, on_message: Callable[[str], None], on_resumed: Callable[[], None]) -> None:
        """Call `on_message` with each text of a channel, and `on_resumed` when some may have been lost."""
        ...

    async def update_statistics(self, *, min_commits: int = 0) -> None:
        """Update the planner's statistics of tables that have grown a lot.

        Does nothing until this process has committed `min_commits` times since it did so before.
        """
        ...

    async def open_apart(self) -> "Database | None":
        """Open the same store with a connection of its own, for another event loop; None if there is no other process.

        The caller closes it.
        """
        ...

    async def close(self) -> None: ...
