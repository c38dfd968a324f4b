"""Sandboxes: units of work that read the store and write into temporary tables that hide the real ones.

Nothing that they write reaches the store: SQLite's connection is opened for reading only, and PostgreSQL's transaction
is read-only, which leaves temporary tables writable. The tables are empty at first, and their rows are rolled back at
the end. No row of the store is locked.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from clarion.db.query import Query, sql
from clarion.errors import StoreUnavailable

HIDDEN_TABLES = (
    *("triggers", "trigger_parts", "attachments", "trigger_attachments", "notifications", "jobs", "messages"),
    *("digest_windows", "digest_events", "throttle_passes", "integration_health", "integration_counts"),
    "awaited_receipts",
    *("subscribers", "topic_subscriptions", "preferences"),
    *("workflows", "workflow_versions"),
    *("webhook_endpoints", "webhook_events", "webhook_event_people", "webhook_deliveries"),
)
"""What is written by accepting triggers and by the engine; without endpoints there are no webhooks."""


MAX_WAITING = 16
SHARE = 1 / 25
"""How much of the time sandboxes work in the long run."""
ALLOWANCE = 0.25
"""The seconds of work that need no rest, so that somebody who tries things does not wait."""
LONGEST_REST = 2.0
"""The seconds after which the next one begins in any case, unless the last one took longer itself."""


class Turns:
    """Whose turn it is: one sandbox works at a time, and they rest for most of it.

    A sandbox holds the interpreter lock while it works, and the process is for something else: fewer than one request
    in twenty may meet a sandbox.
    """

    def __init__(self) -> None:
        self._waiting = 0
        self._worked = self._last = 0.0
        self._ended = time.monotonic()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Be one of those who wait or work; raises StoreUnavailable if there are too many."""
        if self._waiting >= MAX_WAITING:
            raise StoreUnavailable("Too many simulations are waiting")
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    @property
    def rest_seconds(self) -> float:
        """How long to wait before the next begins."""
        return min(max(self._count_work() - ALLOWANCE, 0) / SHARE, max(LONGEST_REST, self._last))

    @contextmanager
    def working(self) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            worked = self._count_work()
            self._ended = time.monotonic()
            self._last = self._ended - started
            self._worked = worked + self._last

    def _count_work(self) -> float:
        """The seconds of work that no time since then makes up for."""
        return max(self._worked - (time.monotonic() - self._ended) * SHARE, 0)


def stored_query(text: str, schema: str) -> Query:
    """A statement in which `stored.jobs` is the table of the store, which is in `schema`."""
    return sql(text.replace("stored.", f"{schema}."))


def copy_query(table: str, columns: Sequence[str], where: str, schema: str) -> Query:
    """A statement that copies rows of the store into the table that hides them."""
    names, values = ", ".join(columns), ", ".join(f"t.{name}" for name in columns)
    text = (
        f"INSERT INTO {table} ({names}) SELECT {values} FROM stored.{table} AS t WHERE {where} ON CONFLICT DO NOTHING"
    )
    return stored_query(text, schema)
