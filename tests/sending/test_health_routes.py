"""The health of an integration and the use of providers, as the API shows them after real sends."""

from typing import Any

from clarion.clock import DAY, HOUR, MINUTE, SECOND
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.ids import find_id
from clarion.integrations.counts import LIST_COUNTS
from clarion.sending.calls import MAX_ERRORS
from clarion.vocabulary import Scope
from tests.engine.providers import ADA, EMAIL, Account, account, trigger_many
from tests.engine.support import World, in_app
from tests.plans import explain
from tests.support import MakeApi


async def health(world: World, one: Account, **query: Any) -> dict[str, Any]:
    response = await world.api.get(f"/v1/integrations/{one.integration['_id']}/health", params=query)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


async def usage(world: World, **query: Any) -> list[tuple[Any, ...]]:
    response = await world.api.get("/v1/usage", params=query)
    assert response.status_code == 200, response.text
    names = ("at", "channel", "providerId", "sent", "failed")
    return [tuple(one[name] for name in names) for one in response.json()["data"]]


async def test_an_integration_that_sent_nothing_is_well(world: World) -> None:
    async with account(world, "a") as first:
        assert await health(world, first) == {
            "_integrationId": first.integration["_id"],
            "circuit": {"state": "closed", "failures": 0},
            "rate": {"waitMilliseconds": 0},
            "after": "2025-12-31T00:00:00.000Z",
            "before": "2026-01-01T00:00:00.001Z",
            "counts": {"sent": 0, "failed": 0},
            "lastErrors": [],
        }


async def test_sends_are_counted_with_the_time_that_they_took(world: World) -> None:
    async with account(world, "a") as first:
        await world.make_workflow(EMAIL)
        await trigger_many(world, 12)
        await world.work()

        counts = (await health(world, first))["counts"]
        assert (counts["sent"], counts["failed"]) == (12, 0)
        assert 0 <= counts["averageMilliseconds"] <= counts["slowestMilliseconds"]


async def test_each_attempt_counts_for_the_integration_that_was_tried(world: World) -> None:
    async with account(world, "a") as first, account(world, "b") as second:
        first.break_down(400)
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.work()

        broken, working = await health(world, first), await health(world, second)
        (message,) = await world.messages()
        (run,) = await world.events()
        assert (broken["counts"]["sent"], broken["counts"]["failed"]) == (0, 1)
        assert (working["counts"]["sent"], working["counts"]["failed"]) == (1, 0)
        assert working["lastErrors"] == []
        (error,) = broken["lastErrors"]
        assert error.pop("answer")["status"] == 400
        assert error == {
            "at": "2026-01-01T00:00:00.000Z",
            "_messageId": message["_id"],
            "_jobId": run["jobs"][0]["_id"],
            "_notificationId": run["_id"],
            "kind": "permanent",
            "message": "Email Webhook answered 400: ok",
        }


async def test_the_circuit_is_shown_while_it_opens_and_closes(world: World) -> None:
    async with account(world, "a") as first:
        first.break_down()
        await world.make_workflow(EMAIL)
        for _ in range(5):
            await trigger_many(world, 1)
            await world.work()
        opened = (await health(world, first))["circuit"]
        world.clock.move(11 * SECOND)
        half_open = (await health(world, first))["circuit"]
        first.come_back()
        await trigger_many(world, 1)
        await world.work()

        assert opened == {"state": "open", "failures": 5, "openUntil": "2026-01-01T00:00:10.000Z"}
        assert half_open == opened | {"state": "halfOpen"}
        assert (await health(world, first))["circuit"] == {"state": "closed", "failures": 0}


async def test_the_rate_limit_shows_what_it_still_allows(world: World) -> None:
    async with account(world, "a", rateLimit=2) as first:
        await world.make_workflow(EMAIL)
        await trigger_many(world, 3)
        await world.work()

        assert (await health(world, first))["rate"] == {"limit": 2, "allowance": -1, "waitMilliseconds": 1001}
        await world.work(after=MINUTE)
        assert (await health(world, first))["rate"]["limit"] == 2


async def test_the_newest_errors_come_first_and_older_ones_are_dropped(world: World) -> None:
    async with account(world, "a") as first:
        first.break_down(400)
        await world.make_workflow(EMAIL)
        await trigger_many(world, MAX_ERRORS)
        await world.work()
        world.clock.move(MINUTE)
        await world.trigger(ADA)
        await world.work()
        await world.api.put(f"/v1/integrations/{first.integration['_id']}", json={"name": "Changed"})

        errors = (await health(world, first))["lastErrors"]
        assert len(errors) == MAX_ERRORS
        assert [one["at"] for one in errors[:2]] == ["2026-01-01T00:01:00.000Z", "2026-01-01T00:00:00.000Z"]


async def test_errors_of_an_erased_person_are_gone(world: World) -> None:
    async with account(world, "a") as first:
        first.break_down(400)
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.work()

        await world.api.delete("/v2/subscribers/ada")

        assert (await health(world, first))["lastErrors"] == []


async def test_counts_are_those_of_the_chosen_time(world: World) -> None:
    async with account(world, "a") as first:
        await world.make_workflow(EMAIL)
        for sent in (1, 2, 4):
            await trigger_many(world, sent)
            await world.work()
            world.clock.move(HOUR)

        async def count(after: str, before: str) -> int:
            found = await health(world, first, after=f"2026-01-01T{after}Z", before=f"2026-01-01T{before}Z")
            sent: int = found["counts"]["sent"]
            return sent

        assert [await count("00:00:00", "01:00:00"), await count("01:30:00", "02:00:00")] == [1, 2]
        assert await count("01:00:00", "03:00:00") == 6
        assert (await health(world, first))["counts"]["sent"] == 7


async def test_a_time_that_is_reversed_or_too_long_is_refused(world: World) -> None:
    moments = {"after": "2026-01-02T00:00:00Z", "before": "2026-01-01T00:00:00Z"}
    far = {"after": "2024-01-02T00:00:00Z", "before": "2026-01-01T00:00:00Z"}
    hours = {"after": "2025-11-02T00:00:00Z", "before": "2026-01-01T00:00:00Z", "bucket": "hour"}

    for query in (moments, far, hours, {"after": "yesterday"}):
        response = await world.api.get("/v1/usage", params=query)
        assert (response.status_code, set(response.json()["errors"])) == (422, {"after"})


async def test_usage_is_grouped_by_time_channel_and_provider(world: World) -> None:
    async with account(world, "a") as first, account(world, "b"):
        await world.make_workflow(EMAIL, in_app("Hi"))
        await trigger_many(world, 2)
        await world.work()
        first.break_down(400)
        await world.work(after=DAY)
        await trigger_many(world, 3)
        await world.work()
        await world.api.delete(f"/v1/integrations/{first.integration['_id']}")

        days = await usage(world)
        hours = await usage(world, bucket="hour", after="2026-01-02T00:00:00Z")
        assert days == [
            ("2026-01-01T00:00:00.000Z", "email", "email-webhook", 2, 0),
            ("2026-01-02T00:00:00.000Z", "email", "email-webhook", 3, 3),
        ]
        assert hours == days[1:]


async def test_the_health_of_all_integrations_is_shown_in_one_call(world: World) -> None:
    async with account(world, "a") as first, account(world, "b") as second:
        first.break_down(400)
        await world.make_workflow(EMAIL)
        await trigger_many(world, 3)
        await world.work()

        response = await world.api.get("/v1/integrations/health")
        found = {one["_integrationId"]: one for one in response.json()}
        listed = (await world.api.get("/v1/integrations")).json()
        assert list(found) == [one["_id"] for one in listed]
        for one in (first, second):
            whole = await health(world, one)
            assert found[one.integration["_id"]] == {
                name: whole[name] for name in ("_integrationId", "circuit", "counts")
            }
        assert found[first.integration["_id"]]["counts"]["failed"] == 3
        later = await world.api.get("/v1/integrations/health", params={"after": "2026-02-01T00:00:00Z"})
        assert (later.status_code, set(later.json()["errors"])) == (422, {"after"})


READ_CREDENTIALS = sql("SELECT credentials FROM integrations WHERE environment_id = :environment_id AND id = :id")
WRITE_CREDENTIALS = sql("""
    UPDATE integrations SET credentials = :credentials WHERE environment_id = :environment_id AND id = :id
""")


async def test_health_is_shown_without_decrypting_credentials(world: World, database: Database) -> None:
    async with account(world, "a") as first:
        scope = {"environment_id": world.api.environment.id, "id": find_id(first.integration["_id"])}
        before = await database.read(lambda db: db.fetch_one(READ_CREDENTIALS, **scope))
        assert before is not None
        await database.transaction(lambda db: db.execute(WRITE_CREDENTIALS, credentials="v1.gone.x", **scope))

        response = await world.api.get("/v1/integrations/health")

        assert first.integration["_id"] in [one["_integrationId"] for one in response.json()]
        assert (await health(world, first))["circuit"]["state"] == "closed"
        # Other tests share the store.
        await database.transaction(lambda db: db.execute(WRITE_CREDENTIALS, **before, **scope))


async def test_usage_can_be_that_of_one_integration(world: World, other_api: Any) -> None:
    async with account(world, "a") as first, account(world, "b") as second:
        first.break_down(400)
        await world.make_workflow(EMAIL)
        await trigger_many(world, 2)
        await world.work()

        day = "2026-01-01T00:00:00.000Z"
        ids = [one.integration["_id"] for one in (first, second)]
        assert [await usage(world, integrationId=one) for one in ids] == [
            [(day, "email", "email-webhook", 0, 2)],
            [(day, "email", "email-webhook", 2, 0)],
        ]
        assert (await other_api.get("/v1/usage", params={"integrationId": ids[0]})).json()["data"] == []
        refused = await world.api.get("/v1/usage", params={"integrationId": "first"})
        assert (refused.status_code, set(refused.json()["errors"])) == (422, {"integrationId"})


async def test_health_and_usage_need_their_scopes_and_show_only_their_environment(
    world: World, make_api: MakeApi, other_api: Any
) -> None:
    async with account(world, "a") as first:
        await world.make_workflow(EMAIL)
        await trigger_many(world, 1)
        await world.work()
        path = f"/v1/integrations/{first.integration['_id']}/health"
        messages = await make_api(scopes=frozenset({Scope.MESSAGES_READ}))
        integrations = await make_api(scopes=frozenset({Scope.INTEGRATIONS_READ}))

        assert [(await messages.get(path)).status_code, (await messages.get("/v1/usage")).status_code] == [403, 200]
        assert (await integrations.get(path)).status_code == 200
        assert (await integrations.get("/v1/usage")).status_code == 403
        assert (await other_api.get(path)).status_code == 404
        assert [one["counts"]["sent"] for one in (await other_api.get("/v1/integrations/health")).json()] == [0]
        assert (await messages.get("/v1/integrations/health")).status_code == 403
        assert (await other_api.get("/v1/usage")).json()["data"] == []


async def test_counts_are_read_in_the_order_of_their_key(world: World, database: Database) -> None:
    plan = await explain(
        database, LIST_COUNTS, environment_id=world.api.environment.id, first=bytes(16), last=bytes(16)
    )

    assert "integration_counts_pkey" in plan or "PRIMARY KEY" in plan, plan
    assert "Sort" not in plan, plan
    assert "B-TREE" not in plan, plan
