"""Workers are killed at random moments while they trigger what is due: each moment of each schedule comes once."""

import asyncio
import random
from typing import Any

from clarion.clock import MINUTE, Millis, SystemClock
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from tests.chaos.test_kills import KEY, KILLS, SETTINGS, open_store
from tests.processes import Process, Start

SCHEDULES = 25
MISSED = 60
"""Moments of each schedule that have passed when the workers start."""
SEND_BACK = sql("UPDATE schedules SET done_until = :then, next_at = :then")
LIST_MOMENTS = sql("""
    SELECT r.environment_id, r.schedule_id, r.moment, t.id AS trigger_id FROM schedule_runs AS r
    LEFT JOIN triggers AS t ON t.environment_id = r.environment_id AND t.transaction_key = r.transaction_key
    ORDER BY r.schedule_id, r.moment
""")
COUNT_TRIGGERS = sql("SELECT count(*) AS n FROM triggers")


async def prepare(process: Process) -> None:
    step = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "x"}}
    workflow = {"name": "Often", "workflowId": "often", "active": True, "steps": [step]}
    async with process.client(KEY) as client:
        assert (await client.post("/v2/workflows", json=workflow)).status_code == 201
        for number in range(SCHEDULES):
            schedule: dict[str, Any] = {"identifier": f"s{number}", "name": "Often", "workflowId": "often"}
            rule = {"to": f"p{number % 5}", "cron": "* * * * *", "catchUp": "all"}
            assert (await client.post("/v1/schedules", json={**schedule, **rule})).status_code == 201


async def count_runs(database: Database) -> int:
    return len(await database.scan(lambda db: db.fetch(LIST_MOMENTS)))


async def test_each_moment_of_each_schedule_comes_once(start: Start, store: list[str]) -> None:
    process = start("serve", *store, **SETTINGS)
    await prepare(process)
    process.kill()
    then = Millis((SystemClock().now() // MINUTE - MISSED) * MINUTE)
    database = await open_store(store)

    async def send_back(db: Connection) -> None:
        await db.execute(SEND_BACK, then=then)

    await database.transaction(send_back)
    for _ in range(KILLS):
        processes = [start("serve", *store, **SETTINGS)]
        if "--database-url" in store:
            processes.append(start("worker", *store, **SETTINGS))
        await asyncio.sleep(random.uniform(0.0, 0.3))
        for one in processes:
            one.kill()
    process = start("serve", *store, **SETTINGS)
    async with asyncio.timeout(90):
        while await count_runs(database) < SCHEDULES * MISSED:  # noqa: ASYNC110 - polls the store
            await asyncio.sleep(0.1)
    process.stop()

    rows = await database.scan(lambda db: db.fetch(LIST_MOMENTS))
    counted = await database.scan(lambda db: db.fetch_one(COUNT_TRIGGERS))
    await database.close()
    by_schedule: dict[bytes, list[int]] = {}
    for row in rows:
        by_schedule.setdefault(bytes(row["schedule_id"]), []).append(row["moment"])
    assert all(row["trigger_id"] is not None for row in rows)
    assert counted is not None
    assert counted["n"] == len(rows)
    assert len(by_schedule) == SCHEDULES
    for moments in by_schedule.values():
        assert moments == [then + (place + 1) * MINUTE for place in range(len(moments))]
