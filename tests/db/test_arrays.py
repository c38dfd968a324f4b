"""Arrays on connections to PostgreSQL."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from clarion.db.postgres.connection import BUILT_IN_ARRAYS, ArrayConnection
from clarion.db.postgres.database import PostgresDatabase
from clarion.db.query import sql

QUERIES_OF_ASYNCPG = "SELECT count(*) FROM pg_prepared_statements WHERE starts_with(statement, 'WITH RECURSIVE')"


@pytest.fixture
async def connection(postgres_url: str) -> AsyncIterator[Any]:
    opened = await asyncpg.connect(postgres_url, connection_class=ArrayConnection)
    yield opened
    await opened.close()


async def test_the_numbers_are_those_of_the_server(connection: Any) -> None:
    rows = await connection.fetch("SELECT oid, typname, typelem, typdelim FROM pg_type WHERE typname ~ '^_'")

    arrays = {row["oid"]: (row["typname"], row["typelem"], row["typdelim"]) for row in rows}
    assert {number: arrays[number] for number in BUILT_IN_ARRAYS} == {
        number: (f"_{one.element_name}", one.element, b",") for number, one in BUILT_IN_ARRAYS.items()
    }


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("boolean", [True, False, None]),
        ("bytea", [b"\x00\xff", b"", None]),
        ("smallint", [-1, 32767, None]),
        ("integer", [-1, 2**31 - 1, None]),
        ("bigint", [-1, 2**63 - 1, None]),
        ("double precision", [0.5, -1e300, None]),
        ("text", ["{a,b}", '"', "", None]),
        ("uuid", [None]),
    ],
)
async def test_arrays_go_to_the_server_and_come_back_without_a_query_about_them(
    connection: Any, kind: str, values: list[Any]
) -> None:
    assert await connection.fetchval(f"SELECT $1::{kind}[]", values) == values
    assert await connection.fetchval(QUERIES_OF_ASYNCPG) == 0


async def test_the_server_is_asked_about_other_arrays(connection: Any) -> None:
    assert await connection.fetchval("SELECT $1::bigint[] || $2::numeric[]::bigint[]", [1], [2]) == [1, 2]
    assert await connection.fetchval(QUERIES_OF_ASYNCPG) == 1


async def test_connections_of_the_pool_know_arrays(postgres_url: str) -> None:
    database = await PostgresDatabase.connect(postgres_url, pool_size=1)
    ids = [bytes(range(16)), bytes(16)]
    try:
        rows = await database.read(lambda db: db.fetch(sql("SELECT unnest(:ids::uuid[]) AS id"), ids=ids))
        asked = await database.read(lambda db: db.fetch_values(sql(QUERIES_OF_ASYNCPG)))
    finally:
        await database.close()

    assert [row["id"] for row in rows] == ids
    assert asked[0][0] == 0
