"""Which environments have work: those with something due, however many rows of others are due or wait."""

import re
from typing import Any

import pytest

from clarion.clock import ManualClock, Millis
from clarion.db import queue_plans
from clarion.db.port import Connection, Database
from clarion.db.query import Insert
from clarion.engine.worker import LIST_BUSY, list_busy
from clarion.environments.model import Environment
from clarion.ids import new_id
from clarion.jobs.lanes import ALL_LANES
from tests.plans import explain
from tests.support import Site

JOBS = Insert(
    "jobs",
    *("environment_id", "id", "notification_id", "step", "type", "status", "details"),
    *("due_at", "queue", "created_at", "updated_at"),
)


async def insert_jobs(db: Connection, environment: Environment, due_at: Millis, count: int) -> None:
    rows: list[tuple[Any, ...]] = [
        (environment.id, new_id(due_at), new_id(due_at), 0, "in_app", "delayed", "[]", due_at, 1, due_at, due_at)
        for _ in range(count)
    ]
    await db.insert_many(JOBS, rows)


@pytest.mark.parametrize("count", [1, queue_plans.FEW - 1, queue_plans.FEW, queue_plans.FEW + 50])
async def test_environments_with_due_runs_are_found_beside_others_with_many(
    database: Database, site: Site, clock: ManualClock, count: int
) -> None:
    now = clock.now()

    async def look(db: Connection) -> set[bytes]:
        return {bytes(one.environment_id) for one in await list_busy(db, ALL_LANES, now)}

    await database.transaction(lambda db: insert_jobs(db, site.development, Millis(now - 1000), count))
    await database.transaction(lambda db: insert_jobs(db, site.production, Millis(now + 1), count))
    busy = await database.read(look)
    assert (site.development.id in busy, site.production.id in busy) == (True, False)

    await database.transaction(lambda db: insert_jobs(db, site.production, now, 1))
    busy = await database.read(look)
    assert {site.development.id, site.production.id} <= busy


async def test_due_runs_are_found_by_their_moment(database: Database) -> None:
    plan = await explain(database, LIST_BUSY, now=10, **ALL_LANES.parameters)

    assert "jobs_due" in plan
    assert "Seq Scan on jobs" not in plan
    assert re.findall(r"(?m)^SCAN jobs$", plan) == []
