"""Writes rows directly into the stores of the systems: copies of rows that the API has made.

Over HTTP, topics with very many members would take minutes, and the API creates no environments.
"""

import contextlib
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

import asyncpg
from msgspec import structs

from bench.content import ensure_topic
from bench.stores import rows_of
from bench.systems import SQLITE, System
from clarion.clock import SystemClock
from clarion.db.sqlite.database import connect
from clarion.environments.model import hash_key
from clarion.ids import new_id

Row = dict[str, Any]

_FIRST = "member-0"
_DEVELOPMENT = "Development"
_COMPUTED = "full_name"


class Writer(Protocol):
    def make_id(self) -> Any: ...

    async def find(self, query: str, value: str) -> Row:
        """Return the one row that a query finds; `{}` stands for the value."""
        ...

    async def insert(self, table: str, rows: Sequence[Row]) -> None: ...


@asynccontextmanager
async def open_writer(system: System) -> AsyncIterator[Writer]:
    if system.kind == SQLITE:
        with contextlib.closing(connect(system.folder / "clarion.db")) as opened:
            yield _SqliteWriter(opened)
        return
    connection = await asyncpg.connect(system.database_url)
    try:
        yield _PostgresWriter(connection)
    finally:
        await connection.close()


class _SqliteWriter:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def make_id(self) -> bytes:
        return new_id(SystemClock().now())

    async def find(self, query: str, value: str) -> Row:
        (row,) = rows_of(self._connection.execute(query.format("?"), (value,)))
        return _stored(row)

    async def insert(self, table: str, rows: Sequence[Row]) -> None:
        marks = ", ".join(f":{name}" for name in rows[0])
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(f"INSERT INTO {table} ({', '.join(rows[0])}) VALUES ({marks})", rows)
        self._connection.execute("COMMIT")


class _PostgresWriter:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def make_id(self) -> uuid.UUID:
        return uuid.UUID(bytes=new_id(SystemClock().now()))

    async def find(self, query: str, value: str) -> Row:
        return _stored(await self._connection.fetchrow(query.format("$1"), value))

    async def insert(self, table: str, rows: Sequence[Row]) -> None:
        records = [tuple(row.values()) for row in rows]
        await self._connection.copy_records_to_table(table, records=records, columns=list(rows[0]))


def _stored(row: Any) -> Row:
    """Return a row without its generated columns."""
    return {name: value for name, value in dict(row).items() if name != _COMPUTED}


async def make_topic_members(system: System, count: int, topics: dict[str, int]) -> None:
    """Create `count` subscribers; the first ones become members of the topics, up to the size of each topic."""
    person = {"subscriberId": _FIRST, "firstName": "Ada", "lastName": "Lovelace", "email": "member-0@example.com"}
    await system.request("POST", "/v2/subscribers", person)
    for topic in topics:
        await ensure_topic(system, topic, [_FIRST])
    async with open_writer(system) as store:
        first = await store.find("SELECT * FROM subscribers WHERE key = {}", _FIRST)
        people = list(_copies(first, count - 1, store))
        await store.insert("subscribers", people)
        for topic, size in topics.items():
            member = await store.find(
                "SELECT * FROM topic_subscriptions WHERE topic_id = (SELECT id FROM topics WHERE key = {})", topic
            )
            await store.insert("topic_subscriptions", _memberships(member, people[: size - 1], store))


def _copies(first: Row, count: int, store: Writer) -> Iterator[Row]:
    for number in range(1, count + 1):
        key = f"member-{number}"
        changed = {"id": store.make_id(), "key": key, "email": f"{key}@example.com"}
        # Row numbers of the text index, far above those in use.
        yield first | changed | {"search_row": first["search_row"] + 1_000_000 + number}


def _memberships(member: Row, people: Sequence[Row], store: Writer) -> list[Row]:
    return [member | {"id": store.make_id(), "subscriber_id": person["id"]} for person in people]


async def make_tenants(system: System, count: int) -> list[System]:
    """Create environments with an API key each, and return the system once for each key."""
    keys = [f"bench-key-of-tenant-{number}" for number in range(count)]
    async with open_writer(system) as store:
        environments = await _insert_environments(store, "Tenant", count)
        first = await store.find(
            "SELECT * FROM api_keys WHERE environment_id = (SELECT id FROM environments WHERE name = {})", _DEVELOPMENT
        )
        rows = [
            first | {"environment_id": one["id"], "id": store.make_id(), "hash": bytes(hash_key(key))}
            for one, key in zip(environments, keys, strict=True)
        ]
        await store.insert("api_keys", rows)
    return [structs.replace(system, key=key) for key in keys]


async def make_idle_environments(system: System, count: int) -> None:
    """Create environments without any content."""
    async with open_writer(system) as store:
        await _insert_environments(store, "Idle", count)


async def _insert_environments(store: Writer, name: str, count: int) -> list[Row]:
    first = await store.find("SELECT * FROM environments WHERE name = {}", _DEVELOPMENT)
    rows = [
        first | {"id": store.make_id(), "name": f"{name} {number}", "identifier": f"{name.lower()}-{number}"}
        for number in range(count)
    ]
    await store.insert("environments", rows)
    return rows
