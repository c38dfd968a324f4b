"""Audit entries, webhooks, receipts, stored responses and versions of workflows: what is old goes, the rest stays."""

from functools import partial
from typing import Any

import pytest

from clarion.clock import DAY, HOUR, SECOND, ManualClock, Millis
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.http.idempotency import insert_responses, make_key
from clarion.http.responses import Response
from clarion.ids import IntegrationId, WorkflowId, new_id
from clarion.integrations.counts import CallCount, add_counts
from clarion.retention.tasks import choose_page, list_all_tasks, list_scopes
from clarion.retention.walks import WalkPage, list_due
from clarion.settings.model import Settings
from clarion.tracking.reactions import ReactionCount, add_reactions
from clarion.vault import Vault
from clarion.webhooks.events import append_events
from clarion.webhooks.model import EventType
from tests.engine.support import World, in_app, step
from tests.retention.support import count_rows, delete_old
from tests.retention.test_runs import set_days
from tests.support import Api, Site
from tests.webhooks.support import make_endpoint

INSERT_AUDIT = sql("""
    INSERT INTO audit_entries (environment_id, id, action, target_type, target_id, actor_type, created_at)
    VALUES (:environment_id, :id, 'workflow.update', 'workflow', 'x', 'key', :now)
""")
INSERT_RECEIPT = sql("INSERT INTO receipts VALUES (:environment_id, :digest, :now)")


async def insert_receipts(database: Database, rows: list[dict[str, Any]]) -> None:
    await database.transaction(lambda db: db.execute_many(INSERT_RECEIPT, rows))


async def test_audit_entries_go_after_a_year(api: Api, database: Database, clock: ManualClock) -> None:
    scope = {"environment_id": api.environment.id}

    async def change() -> None:
        await database.transaction(
            lambda db: db.execute(INSERT_AUDIT, **scope, id=new_id(clock.now()), now=clock.now())
        )

    await change()
    clock.move(200 * DAY)
    await change()
    clock.move(166 * DAY)
    await delete_old(database, clock)

    assert await count_rows(database, api.environment.id, "audit_entries") == {"audit_entries": 1}


async def test_counts_of_calls_go_after_a_year(api: Api, database: Database, clock: ManualClock) -> None:
    async def count() -> None:
        counts = [(IntegrationId(new_id(clock.now())), CallCount(sent=1)) for _ in range(3)]
        await database.transaction(lambda db: add_counts(db, api.environment.id, counts, clock.now()))

    await count()
    clock.move(200 * DAY)
    await count()
    clock.move(166 * DAY)
    await delete_old(database, clock)

    assert await count_rows(database, api.environment.id, "integration_counts") == {"integration_counts": 3}


async def test_counts_of_reactions_go_after_a_year(api: Api, database: Database, clock: ManualClock) -> None:
    async def count() -> None:
        counts = {WorkflowId(new_id(clock.now())): ReactionCount(opened=1) for _ in range(3)}
        await database.transaction(lambda db: add_reactions(db, api.environment.id, counts, clock.now()))

    await count()
    clock.move(200 * DAY)
    await count()
    clock.move(166 * DAY)
    await delete_old(database, clock)

    assert await count_rows(database, api.environment.id, "mail_reactions") == {"mail_reactions": 3}


async def test_events_of_webhooks_go_with_their_deliveries(api: Api, database: Database, clock: ManualClock) -> None:
    await make_endpoint(api, "https://hooks.example.com/")

    async def happen(times: int) -> None:
        events: list[Any] = [(EventType.ENDPOINT_TEST, {})] * times
        await database.transaction(lambda db: append_events(db, api.environment.id, events, clock.now()))

    await happen(700)
    clock.move(HOUR)
    await happen(3)
    clock.move(30 * DAY - HOUR - SECOND)
    await delete_old(database, clock)
    kept = await count_rows(database, api.environment.id, "webhook_events", "webhook_deliveries")
    clock.move(HOUR)
    await delete_old(database, clock)

    assert kept == {"webhook_events": 703, "webhook_deliveries": 703}
    assert await count_rows(database, api.environment.id, "webhook_events", "webhook_deliveries") == {
        "webhook_events": 3,
        "webhook_deliveries": 3,
    }


async def test_webhooks_are_kept_for_as_long_as_they_are_retried(api: Api) -> None:
    me = (await api.get("/v1/environments/me")).json()
    refused = await api.patch(f"/v1/environments/{me['_id']}", json={"retentionDays": {"webhooks": 4}})

    assert refused.status_code == 422
    assert refused.json()["errors"]["retentionDays.webhooks"]["messages"][0].startswith("must be between 5 and 180")


@pytest.mark.parametrize("count", [3, 1203])
async def test_stored_responses_and_receipts_go_when_their_environment_no_longer_keeps_them(
    database: Database, site: Site, vault: Vault, clock: ManualClock, world: World, count: int
) -> None:
    await set_days(world, idempotency=20, receipts=20)
    for environment in (site.development, site.production):
        keys = [
            make_key(f"k{number}", environment_id=environment.id, method="POST", path=b"/x", content=b"{}")
            for number in range(count)
        ]
        responses = [(key, Response(201, b"{}")) for key in keys]
        await database.transaction(partial(insert_responses, responses=responses, vault=vault, now=clock.now()))
        receipts = [
            {"environment_id": environment.id, "digest": number.to_bytes(16), "now": clock.now()}
            for number in range(count)
        ]
        await insert_receipts(database, receipts)
    tables = ("idempotency_keys", "receipts")
    clock.move(8 * DAY)
    await delete_old(database, clock)
    kept = [await count_rows(database, one.id, *tables) for one in (site.development, site.production)]
    clock.move(13 * DAY)
    await delete_old(database, clock)

    assert kept == [dict.fromkeys(tables, count), dict.fromkeys(tables, 0)]
    assert await count_rows(database, site.development.id, *tables) == dict.fromkeys(tables, 0)


async def test_a_version_goes_long_after_it_was_replaced_unless_a_run_needs_it(
    world: World, database: Database
) -> None:
    def body(text: str) -> dict[str, Any]:
        wait = step("delay", type="regular", amount=200, unit="days")
        return {"name": "Welcome", "workflowId": "welcome", "active": True, "steps": [wait, in_app(text)]}

    made = await world.make_workflow(*body("one")["steps"])
    path = f"/v2/workflows/{made['_id']}"
    for text in ("two", "three", "four"):
        world.clock.move(DAY)
        await world.api.put(path, json=body(text))
        if text == "two":
            await world.trigger("ada")
            await world.work()
    world.clock.move(87 * DAY)
    await delete_old(database, world.clock)
    tables = ("workflow_versions", "workflow_version_notes")
    young = await count_rows(database, world.api.environment.id, *tables)
    world.clock.move(4 * DAY)
    await delete_old(database, world.clock)
    old = await count_rows(database, world.api.environment.id, *tables)
    await world.work(after=120 * DAY)

    # The second one is the version of Ada's run, and the last one is current.
    assert (young, old) == (dict.fromkeys(tables, 4), dict.fromkeys(tables, 2))
    assert await world.feed() == ["two"]
    assert [len(one["jobs"]) for one in await world.events(after="2020-01-01")] == [2]


async def test_a_version_that_was_made_for_runs_goes_when_none_goes_on_with_it(
    world: World, database: Database
) -> None:
    digest = step("digest", "Digest", type="regular", amount=1, unit="days", version="latest")
    wait = {**step("delay", type="regular", amount=200, unit="days"), "name": "Wait"}
    made = await world.make_workflow(digest)
    steps = [{**digest, "_id": made["steps"][0]["_id"]}, wait, in_app("last")]
    await world.trigger("ada")
    await world.work()
    await world.api.put("/v2/workflows/welcome", json={"name": "Welcome", "active": True, "steps": steps})
    await world.work(after=DAY)
    counts = []
    for days in (100, 110, 40):
        await world.work(after=days * DAY)
        await delete_old(database, world.clock)
        counts.append((await count_rows(database, world.api.environment.id, "workflow_versions"))["workflow_versions"])

    # The saved ones, of which Ada's trigger needs the first, and that of her run until it is deleted.
    assert counts == [3, 3, 2]
    assert await world.feed() == ["last"]


async def test_a_walk_goes_on_where_it_stopped_and_looks_once_a_day_at_what_was_needed(
    world: World, database: Database
) -> None:
    await world.make_workflow(step("delay", type="regular", amount=80, unit="days"))
    for number in range(5):
        await world.trigger(f"person-{number}")
    await world.work()
    world.clock.move(31 * DAY)
    await delete_old(database, world.clock)
    scope = world.api.environment.id

    async def is_due(after: int) -> bool:
        now = Millis(world.clock.now() + after)
        scopes = await database.scan(lambda db: list_scopes(db, Settings(), now))
        (task,) = [
            one for one in list_all_tasks(scopes, now) if (one.walk.name, one.scope.environment_id) == ("runs", scope)
        ]
        oldest = task.scope.oldest_id(*task.walk.horizon_of)
        return scope in await database.scan(lambda db: list_due(db, task.walk, [scope], now=now, oldest=oldest))

    assert [await is_due(after) for after in (0, HOUR, 23 * HOUR, DAY)] == [False, False, False, True]


async def test_what_would_be_deleted_is_counted_page_by_page(world: World, database: Database) -> None:
    await world.make_workflow(in_app())
    for number in range(3):
        await world.trigger(f"person-{number}")
    await world.work()
    world.clock.move(31 * DAY)
    scopes = await database.scan(lambda db: list_scopes(db, Settings(), world.clock.now()))
    tasks = list_all_tasks(scopes, world.clock.now())
    (runs,) = [one for one in tasks if (one.walk.name, one.scope.environment_id) == ("runs", world.api.environment.id)]
    page: WalkPage = await database.scan(lambda db: choose_page(db, runs))

    assert (len(page.rows), page.is_last) == (3, True)
    assert (await count_rows(database, world.api.environment.id, "notifications")) == {"notifications": 3}
