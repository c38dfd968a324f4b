"""Counts of runs by status over time, on both databases."""

import random
from collections import Counter
from typing import Any

import pytest

from clarion.app import Application
from clarion.clock import DAY, HOUR, MINUTE, Millis, iso_text
from clarion.db.port import Connection, Database
from clarion.db.query import Insert, sql
from clarion.ids import first_id
from clarion.runs.counts import choose_span, count_runs
from clarion.runs.filters import read_filter
from clarion.runs.model import Counts, Interval
from clarion.runs.status import STORED
from clarion.runs.wire import RunFilterQuery
from clarion.vocabulary import RunStatus
from tests.records import NOW, make_notification
from tests.support import Api

NAMES = ("environment_id", "id", "trigger_id", "workflow_id", "version_id", "subscriber_id", "step_types")


async def insert_runs(database: Database, api: Api, runs: list[tuple[Millis, RunStatus]], *, id_ahead: int = 0) -> None:
    """Rows as a run leaves them, but for their jobs, which are not counted; ids may be some milliseconds ahead."""
    made = await make_notification(database, api.environment)
    numbers = random.Random(7)

    async def insert(db: Connection) -> None:
        scope = {"environment_id": api.environment.id}
        query = sql(f"SELECT {', '.join(NAMES)} FROM notifications WHERE environment_id = :environment_id")
        like: Any = await db.fetch_one(query, **scope)
        rest = tuple(like[name] for name in NAMES[3:])
        rows = []
        for at, status in runs:
            run_id = first_id(Millis(at + id_ahead))[:6] + numbers.randbytes(10)
            rows.append((api.environment.id, run_id, run_id, *rest, at, at, STORED[status]))
        await db.insert_many(Insert("notifications", *NAMES, "created_at", "updated_at", "status"), rows)
        await db.execute(sql("DELETE FROM notifications WHERE environment_id = :environment_id AND id = :id"),
                         **scope, id=made.id)  # fmt: skip

    await database.transaction(insert)


async def test_few_runs_are_counted_exactly(api: Api, database: Database) -> None:
    runs = [(Millis(NOW + number * MINUTE), RunStatus.COMPLETED) for number in range(90)]
    runs += [(Millis(NOW + HOUR), RunStatus.FAILED)] * 3
    await insert_runs(database, api, runs)
    query = {"after": iso_text(NOW), "before": iso_text(Millis(NOW + 2 * HOUR - 1)), "interval": "1h"}

    response = await api.get("/v1/runs/counts", params=query)

    assert response.json() == {
        "interval": "1h",
        "estimated": False,
        "total": 93,
        "buckets": [
            {"at": iso_text(NOW), "total": 60, "statuses": {"completed": 60}},
            {"at": iso_text(Millis(NOW + HOUR)), "total": 33, "statuses": {"completed": 30, "failed": 3}},
        ],
    }
    failed = (await api.get("/v1/runs/counts", params={**query, "status": "failed"})).json()
    assert failed["total"] == 3
    nobody = (await api.get("/v1/runs/counts", params={**query, "subscriberId": "nobody"})).json()
    assert (nobody["total"], len(nobody["buckets"])) == (0, 2)


async def test_many_runs_are_estimated_and_rare_failures_among_them_are_exact(
    api: Api, database: Database, application: Application
) -> None:
    numbers = random.Random(1)
    moments = [Millis(NOW + numbers.randrange(DAY)) for _ in range(8_000)]
    # A burst of a tenth of a percent of the time.
    moments += [Millis(NOW + 5 * HOUR + numbers.randrange(DAY // 1000)) for _ in range(2_000)]
    runs = [(at, RunStatus.COMPLETED) for at in moments]
    runs += [(Millis(NOW + hour * HOUR), RunStatus.FAILED) for hour in range(24)]
    await insert_runs(database, api, runs)
    span = choose_span(NOW, Millis(NOW + DAY - 1), Interval.HOUR)

    async def count(db: Connection) -> Counts:
        wanted = await read_filter(db, api.environment.id, RunFilterQuery(), application.services.names)
        return await count_runs(db, wanted, span, max_exact=1_000, max_sampled=4_000)

    found = await database.scan(count)

    real = Counter((at // HOUR * HOUR, status) for at, status in runs)
    assert found.is_estimated
    assert {key: n for key, n in found.counts.items() if key[1] is RunStatus.FAILED} == {
        key: n for key, n in real.items() if key[1] is RunStatus.FAILED
    }
    assert 0.8 < found.counts.total() / real.total() < 1.25


async def test_runs_right_before_a_range_whose_ids_are_in_it_are_estimated(
    api: Api, database: Database, application: Application
) -> None:
    quarter = Millis(NOW + HOUR // 4)
    await insert_runs(database, api, [(Millis(quarter - 1), RunStatus.COMPLETED)] * 500, id_ahead=1)
    span = choose_span(NOW, Millis(NOW + HOUR - 1), Interval.HOUR)

    async def count(db: Connection) -> Counts:
        wanted = await read_filter(db, api.environment.id, RunFilterQuery(), application.services.names)
        return await count_runs(db, wanted, span, max_exact=100)

    found = await database.scan(count)

    assert found.is_estimated
    assert found.counts.total() >= 100


@pytest.mark.parametrize(
    ("length", "interval"), [(MINUTE, "1s"), (HOUR, "1m"), (DAY, "15m"), (7 * DAY, "6h"), (365 * DAY, "7d")]
)
def test_the_interval_is_chosen_by_the_length_of_time(length: int, interval: str) -> None:
    span = choose_span(NOW, Millis(NOW + length), None)

    assert span.interval == interval
    assert 1 <= len(span.buckets) <= 101
    assert span.after <= NOW < NOW + length < span.before


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"interval": "1s"}, "interval"),
        ({"interval": "3h"}, "interval"),
        ({"after": "1970-01-01"}, "after"),
        ({"after": "2026-02-01", "before": "2026-01-01"}, "after"),
        ({"status": "done"}, "status"),
    ],
)
async def test_a_time_that_cannot_be_counted_is_refused(api: Api, query: dict[str, str], field: str) -> None:
    refused = await api.get("/v1/runs/counts", params=query)

    assert refused.status_code == 422, refused.text
    assert list(refused.json()["errors"]) == [field]
