"""The activity of workflows through HTTP, on both databases."""

from typing import Any

import pytest

from clarion.clock import DAY, HOUR, SECOND, ManualClock, Millis
from clarion.db.port import Database, Dialect
from clarion.runs.activity.store import COUNT_RUNS, FIND_LAST_RUN, FIND_RUN_BEHIND, LIST_RUNS
from clarion.runs.activity.summary import CountingEffort, count_activity
from clarion.vocabulary import Channel, JobStatus, StepType
from tests.plans import explain
from tests.records import (
    NOW,
    make_job,
    make_message,
    make_notification,
    make_step,
    make_subscriber,
    make_trigger,
    make_workflow,
)
from tests.support import Api

PATH = "/v1/workflows/welcome/activity"


async def get(api: Api, path: str = PATH, **query: Any) -> Any:
    response = await api.get(path, params=query)
    assert response.status_code == 200, response.text
    return response.json()


async def make_runs(database: Database, api: Api, *, count: int = 1, key: str = "welcome", start: int = NOW) -> Any:
    """Runs a minute apart, each with an in-app step that was read by every second person, and an email that failed."""
    steps = [make_step(StepType.IN_APP), make_step(StepType.EMAIL, 1)]
    workflow = await make_workflow(database, api.environment, key=key, steps=steps)
    for number in range(count):
        now = Millis(start + number * 60 * SECOND)
        trigger = await make_trigger(database, api.environment, workflow=workflow, now=now)
        person = await make_subscriber(database, api.environment, f"{key}-{number}")
        run = await make_notification(database, api.environment, trigger=trigger, subscriber=person, now=now)
        job = await make_job(database, api.environment, notification=run, now=now)
        is_read = number % 2 == 0
        await make_message(
            database, api.environment, job=job, now=now, seen=True, read=is_read, archived=number % 3 == 0
        )
        status = JobStatus.FAILED if number % 4 else JobStatus.SKIPPED
        await make_job(database, api.environment, notification=run, step=1, kind=StepType.EMAIL, status=status, now=now)
    return workflow


async def test_activity_has_the_last_run_and_counts_by_channel(
    api: Api, database: Database, clock: ManualClock
) -> None:
    await make_runs(database, api, count=8)
    clock.move(HOUR)

    found = await get(api)

    assert (found["workflowId"], found["runs"], found["estimated"]) == ("welcome", 8, False)
    assert found["channels"]["in_app"] == counts(sent=8, seen=8, read=4)
    assert found["channels"]["email"] == counts(failed=6, skipped=2)
    assert found["lastRun"]["createdAt"] == "2026-01-01T00:07:00.000Z"
    # It comes from the jobs, because the run was stored without a status.
    assert found["lastRun"]["status"] == "partly_failed"


def counts(**given: int) -> dict[str, int]:
    names = ("sent", "failed", "skipped", "canceled", "merged", "waiting", "seen", "read", "clicked")
    return {name: given.get(name, 0) for name in names}


async def test_only_runs_of_the_chosen_time_are_counted_and_the_last_run_is_shown_all_the_same(
    api: Api, database: Database, clock: ManualClock
) -> None:
    await make_runs(database, api, count=4)
    clock.move(30 * DAY)

    week = await get(api)
    some = await get(api, after="2026-01-01T00:01:00.000Z", before="2026-01-01T00:02:30.000Z")

    assert (week["runs"], week["channels"]) == (0, {})
    assert week["lastRun"]["createdAt"] == "2026-01-01T00:03:00.000Z"
    assert (some["runs"], some["channels"]["in_app"]["sent"]) == (2, 2)


async def test_a_workflow_without_runs_has_none(api: Api, database: Database) -> None:
    await make_workflow(database, api.environment, key="welcome")

    found = await get(api)

    assert "lastRun" not in found
    assert (found["runs"], found["estimated"], found["channels"]) == (0, False, {})


async def test_an_opened_email_is_read(api: Api, database: Database, clock: ManualClock) -> None:
    workflow = await make_workflow(database, api.environment, key="welcome", steps=[make_step(StepType.EMAIL)])
    for delivery in ('{"opened": 1}', '{"delivered": 1}', None):
        trigger = await make_trigger(database, api.environment, workflow=workflow)
        person = await make_subscriber(database, api.environment, str(delivery))
        run = await make_notification(database, api.environment, trigger=trigger, subscriber=person)
        job = await make_job(database, api.environment, notification=run, kind=StepType.EMAIL)
        await make_message(database, api.environment, job=job, channel=Channel.EMAIL, delivery=delivery)
    clock.move(HOUR)

    assert (await get(api))["channels"]["email"] == counts(sent=3, seen=1, read=1)


async def test_several_workflows_are_shown_in_one_call(api: Api, database: Database, clock: ManualClock) -> None:
    for key, count in (("one", 1), ("two", 2), ("none", 0)):
        await make_runs(database, api, key=key, count=count)
    clock.move(HOUR)

    all_of_them = await get(api, "/v1/workflows/activity")
    chosen = await get(api, "/v1/workflows/activity", workflowIds=["two", "unknown", "one"])

    assert {one["workflowId"]: one["runs"] for one in all_of_them} == {"none": 0, "two": 2, "one": 1}
    assert [one["workflowId"] for one in chosen] == ["two", "one"]
    assert chosen[0] == await get(api, "/v1/workflows/two/activity")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"after": "yesterday"}, "after"),
        ({"after": "2026-02-01T00:00:00Z", "before": "2026-01-01T00:00:00Z"}, "after"),
    ],
)
async def test_a_time_that_makes_no_sense_is_refused_by_name(api: Api, query: dict[str, str], field: str) -> None:
    for path in ("/v1/workflows/activity", PATH):
        response = await api.get(path, params=query)

        assert response.status_code == 422
        assert list(response.json()["errors"]) == [field]


async def test_too_many_workflows_are_refused(api: Api) -> None:
    response = await api.get("/v1/workflows/activity", params={"workflowIds": [str(n) for n in range(51)]})

    assert list(response.json()["errors"]) == ["workflowIds"]


async def test_of_many_runs_some_are_looked_at_and_the_counts_are_estimated(api: Api, database: Database) -> None:
    workflow = await make_runs(database, api, count=60)
    effort = CountingEffort(rows_per_probe=10, max_probes=12, max_runs=24, max_messages=10)
    time = NOW, Millis(NOW + HOUR)

    found = await database.scan(lambda db: count_activity(db, api.environment.id, [workflow.id], time, effort))

    activity = found[workflow.id]
    assert activity.is_estimated
    assert 50 <= activity.runs <= 70
    in_app, email = activity.channels[Channel.IN_APP], activity.channels[Channel.EMAIL]
    assert in_app.sent == pytest.approx(activity.runs)
    assert 0.25 * in_app.sent <= in_app.read <= 0.75 * in_app.sent
    assert email.failed + email.skipped == pytest.approx(activity.runs)
    assert email.failed > email.skipped > 0


async def test_counts_walk_the_index_of_the_workflow(api: Api, database: Database) -> None:
    workflow = await make_runs(database, api)
    kind = {"environment_id": api.environment.id, "workflow_id": workflow.id, "step_types": 3}
    bounds = {"first": bytes(16), "last": b"\xff" * 16}

    plans = [
        await explain(database, COUNT_RUNS, **kind, **bounds),
        await explain(database, FIND_RUN_BEHIND, **kind, **bounds, limit=10),
        await explain(database, LIST_RUNS, **kind, **bounds, limit=10),
        await explain(database, FIND_LAST_RUN, **kind),
    ]

    # PostgreSQL takes another index while there are few rows.
    wanted = "notifications_workflow" if database.dialect is Dialect.SQLITE else "Index"
    assert [plan for plan in plans if wanted not in plan or "Seq Scan" in plan] == []
