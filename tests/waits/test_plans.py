"""The statements about events and waits read the rows that they are about, and no others."""

import re
from typing import Any

import pytest

from clarion.clock import Millis
from clarion.db.port import Database, Dialect
from clarion.db.query import Query
from clarion.ids import new_id
from clarion.jobs.lanes import LaneSet
from clarion.waits import store
from tests.plans import explain

ID = new_id(Millis(1_767_225_600_000))
PEOPLE = {"people": [ID, ID]}
LANES = LaneSet.of([1, 2, 5]).parameters

PLANS: dict[str, tuple[Query, dict[str, Any], str]] = {
    "pending lanes": (store.LIST_PENDING_LANES, {"limit": 500}, "emitted_events_pending"),
    "pending": (store.LIST_PENDING, {"limit": 500, **LANES}, "emitted_events_pending"),
    "for many": (store.FIND_PENDING_FOR_MANY, {}, "emitted_events_pending"),
    "past of people": (
        store.LIST_EVENTS_OF_PEOPLE,
        {**PEOPLE, "name": "a", "since": 1, "limit": 10},
        "emitted_events_person",
    ),
    "past for many": (store.LIST_EVENTS_FOR_MANY, {"name": "a", "since": 1, "limit": 10}, "emitted_events_many"),
    "waits of people": (store.LIST_WAITS_OF_PEOPLE, PEOPLE, "event_waits_subscriber"),
    "waits for a name": (store.LIST_WAITS_FOR, {"event": "a", "after": ID, "limit": 10}, "event_waits_event"),
    "count of waits": (store.COUNT_WAITS, PEOPLE, "event_waits_subscriber"),
    "awaited": (store.LIST_AWAITED_OF, {"names": ["a"]}, "awaited_events_pkey|PRIMARY KEY|autoindex_awaited_events"),
    "old events": (store.DELETE_OLD_EVENTS, {"before": 1, "limit": 10}, "emitted_events_age"),
    "old waits": (store.DELETE_OLD_WAITS, {"before": 1, "limit": 10}, "event_waits_until"),
    "waits of runs": (store.DELETE_WAITS_OF_RUNS, {"run_ids": [ID]}, "jobs_step|jobs_pkey"),
}


@pytest.mark.parametrize("name", PLANS)
async def test_rows_are_found_by_an_index(database: Database, name: str) -> None:
    query, parameters, index = PLANS[name]
    scope = {} if name.startswith("old") else {"environment_id": ID}

    plan = await explain(database, query, **scope, **parameters)

    assert re.search(index, plan), plan
    whole = (
        r"Seq Scan"
        if database.dialect is Dialect.POSTGRES
        else r"^SCAN (emitted_events|event_waits|awaited)\b(?!.*USING)"
    )
    assert not re.search(whole, plan, re.MULTILINE), plan
