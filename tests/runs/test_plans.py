"""Lists and streams of runs walk indexes in order, on both databases."""

import pytest

from clarion.db.listing import Listing, select_ids
from clarion.db.port import Database
from clarion.db.query import Query, sql
from clarion.runs.changes import COUNT_CHANGED, LIST_BEGAN, LIST_CHANGED, LIST_LAST_CHANGED
from clarion.runs.filters import status_part
from tests.plans import explain
from tests.records import NOW
from tests.support import Api

FIRST, LAST = bytes(16), b"\xff" * 16


@pytest.mark.parametrize("query", [LIST_CHANGED, LIST_LAST_CHANGED, COUNT_CHANGED])
async def test_changed_runs_are_found_by_the_index_of_changes(api: Api, database: Database, query: Query) -> None:
    given = {
        "environment_id": api.environment.id,
        "low_at": NOW,
        "low": FIRST,
        "high_at": NOW,
        "high": LAST,
        "limit": 9,
    }

    plan = await explain(database, query, **{name: given[name] for name in query.names})

    assert "notifications_changed" in plan
    assert "Sort" not in plan
    assert "TEMP B-TREE" not in plan


async def test_new_runs_are_found_in_the_order_of_the_key(api: Api, database: Database) -> None:
    plan = await explain(database, LIST_BEGAN, environment_id=api.environment.id, low=FIRST, limit=9)

    assert "notifications_pkey" in plan or "sqlite_autoindex_notifications_1" in plan
    assert "Sort" not in plan
    assert "TEMP B-TREE" not in plan


async def test_runs_of_several_statuses_are_merged_from_their_index(api: Api, database: Database) -> None:
    listing = Listing(
        columns="t.id",
        source="notifications AS t",
        where="t.environment_id = :environment_id AND t.id >= :low AND t.id < :high",
        parameters={},
        parts=[status_part(4), status_part(5)],
    )
    query = sql(f"{select_ids(database.dialect, listing, 'DESC')} LIMIT :reach")

    plan = await explain(database, query, environment_id=api.environment.id, low=FIRST, high=LAST, reach=9)

    assert plan.count("notifications_status") == 2
    assert "TEMP B-TREE" not in plan
