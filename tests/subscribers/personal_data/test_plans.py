"""Export and erasure find the rows of a person by indexes, however many others there are."""

from typing import Any

import pytest

from clarion.db.port import Database, Dialect
from clarion.db.query import Query
from clarion.subscribers.personal_data import erasure
from clarion.subscribers.personal_data.tables import EXPORTED, PersonTable
from clarion.triggers import erasure as triggers
from tests.plans import explain
from tests.support import Site

FOUND_BY: list[tuple[Query, str]] = [
    (triggers.EMPTY_QUEUED_FOR_PERSON, "triggers_queued"),
    (triggers.LIST_QUEUED_NAMING, "triggers_queued"),
    (triggers.LIST_EXPANDING_NAMING, "triggers_splitting"),
    (erasure.LIST_RUNS, "notifications_subscriber"),
    (erasure.DELETE_MESSAGES, "messages_subscriber"),
    (erasure.DELETE_EXPECTED_RECEIPTS, "awaited_receipts_message"),
    (erasure.DELETE_THROTTLE_PASSES, "throttle_passes_subscriber"),
    (erasure.DELETE_DIGEST_EVENTS, "digest_windows_subscriber"),
]
VALUES: dict[str, Any] = {
    "subscriber_id": bytes(16),
    "limit": 10,
    "ids": [bytes(16)],
    "lane": 1,
    "name": "x",
    "alone": "x",
    "emptied": "{}",
    "addresses": ["x"],
}
KEYS: dict[str, Any] = {"step": 1, "archived": False, "channel": "email", "address": "x", "context_keys": "[]"}


@pytest.mark.parametrize(("query", "index"), FOUND_BY)
async def test_an_erasure_walks_indexes(database: Database, site: Site, query: Query, index: str) -> None:
    values = {name: value for name, value in VALUES.items() if name in query.names}

    plan = await explain(database, query, environment_id=site.development.id, **values)

    # PostgreSQL chooses among indexes by the statistics of the tests' tables; SQLite has none.
    assert index in plan if database.dialect is Dialect.SQLITE else "Seq Scan" not in plan


@pytest.mark.parametrize("table", EXPORTED, ids=lambda one: one.name)
async def test_a_page_of_an_export_is_read_in_the_order_of_an_index(
    database: Database, site: Site, table: PersonTable
) -> None:
    values = {name: value for name, value in VALUES.items() if name in table.next_rows.names}
    keys = {f"key_{number}": KEYS.get(name, bytes(16)) for number, name in enumerate(table.keys)}

    plan = await explain(database, table.next_rows, environment_id=site.development.id, **values, **keys)

    assert "SCAN" not in plan
    assert "Seq Scan" not in plan
    assert "TEMP B-TREE" not in plan
