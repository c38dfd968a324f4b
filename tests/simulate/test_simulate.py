"""Simulations: what a trigger would do, seen through the API."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from clarion.app import Application
from clarion.bus import Signal
from clarion.clock import HOUR, MINUTE
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.db.schema import metadata
from clarion.jsontext import json_text
from clarion.vocabulary import Scope
from tests.conftest import open_store
from tests.engine.support import World, in_app, step
from tests.simulate.support import DELAY, contents, simulate, subscribe
from tests.support import MakeApi

SET_RULES = sql("UPDATE topic_subscriptions SET preferences = :rules WHERE environment_id = :environment_id")
HOURLY = step("digest", "Digest", type="regular", amount=1, unit="hours")
COUNTED = in_app("{{step.total_count}}: {% for event in step.events %}{{event.n}} {% endfor %}")


async def problems(world: World, **fields: Any) -> list[str]:
    response = await world.api.post("/v1/simulate", json={"name": "welcome", "to": "ada", **fields})
    assert response.status_code == 422, response.text
    return sorted(response.json()["errors"])


async def dump(db: Connection) -> dict[str, list[Any]]:
    """Every row of every table."""
    return {
        table: sorted(repr(sorted(dict(row).items())) for row in await db.fetch(sql(f"SELECT * FROM {table}")))
        for table in metadata.tables
    }


async def test_a_simulation_shows_the_messages_of_each_person_with_their_moments(world: World) -> None:
    await world.make_workflow(in_app("Hello {{subscriber.firstName}}"), DELAY, in_app("Still here, {{payload.name}}?"))

    shown = await simulate(world, {"subscriberId": "ada", "firstName": "Ada"}, payload={"name": "Ada"})

    (person,) = shown["recipients"]
    assert person["subscriberId"] == "ada"
    messages = [(one["at"], one["channel"], one["stepId"], one["to"], one["content"]) for one in person["messages"]]
    assert messages == [
        ("2026-01-01T00:00:00.000Z", "in_app", "inbox", "ada", "Hello Ada"),
        ("2026-01-01T01:00:00.000Z", "in_app", "inbox-2", "ada", "Still here, Ada?"),
    ]
    assert {one["kind"] for one in person["decisions"]} >= {"recipient", "workflow", "delay"}
    assert {name: shown[name] for name in ("status", "total", "totalCapped", "truncated", "complete")} == {
        "status": "processed",
        "total": 1,
        "totalCapped": False,
        "truncated": False,
        "complete": True,
    }


class TestOnItsOwnStore:
    """Every row of the store is read here, so it has none of other tests."""

    @pytest.fixture
    async def database(
        self, backend: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
    ) -> AsyncIterator[Database]:
        async with open_store(backend, request, tmp_path_factory) as opened:
            yield opened

    async def test_nothing_is_written_and_nobody_is_told(
        self, world: World, database: Database, application: Application
    ) -> None:
        body = {"providerId": "svc-email", "channel": "email", "active": True, "rateLimit": 5}
        assert (await world.api.post("/v1/integrations", json=body)).status_code == 201
        endpoint = {"url": "https://example.com/hook", "eventTypes": []}
        assert (await world.api.post("/v1/webhooks/endpoints", json=endpoint)).status_code == 201
        await world.make_workflow(
            HOURLY,
            step("throttle", amount=1, unit="hours", threshold=3),
            COUNTED,
            step("email", subject="Hi", body="<p>{{payload.n}}</p>"),
        )
        await subscribe(world, "news", "bob", "eve")
        await world.trigger("ada", payload={"n": 1})
        await world.work()
        before, announced, measures = await database.read(dump), [], application.services.measures
        application.services.bus.listen(Signal.WORK, lambda: announced.append(1))
        counted = (measures.accepted_triggers, measures.started_runs, dict(measures.messages))

        shown = await simulate(
            world,
            [
                {"subscriberId": "ada", "email": "ada@example.com"},
                {"subscriberId": "new", "email": "new@example.com", "data": {"a": 1}},
                {"type": "Topic", "topicKey": "news"},
            ],
            payload={"n": 2, "attachments": [{"name": "a.txt", "file": "aGVsbG8" * 300 + "="}]},
            preferences={"channels": {"sms": False}, "workflow": {"push": False}, "schedule": {"isEnabled": False}},
            actor="carl",
        )

        assert [one["subscriberId"] for one in shown["recipients"]] == ["ada", "new", "bob", "eve"]
        assert sum(len(one["messages"]) for one in shown["recipients"]) == 6
        assert await database.read(dump) == before
        assert announced == []
        assert (measures.accepted_triggers, measures.started_runs, dict(measures.messages)) == counted
        await world.work(after=HOUR)
        assert await world.feed() == ["1: 1 "]


async def test_a_digest_under_way_takes_the_simulated_event_along(world: World) -> None:
    await world.make_workflow(HOURLY, COUNTED)
    for number in (1, 2):
        await world.trigger(payload={"n": number})
    await world.work()

    (person,) = (await simulate(world, payload={"n": 3}))["recipients"]

    assert [(one["at"], one["content"]) for one in person["messages"]] == [("2026-01-01T01:00:00.000Z", "3: 1 2 3 ")]
    assert await contents(world, payload={"n": 3}, at="2026-01-01T00:30:00Z") == ["3: 1 2 3 "]
    # That window will be closed by then.
    assert await contents(world, payload={"n": 3}, at="2026-01-01T01:30:00Z") == ["1: 3 "]
    assert await contents(world, "bob", payload={"n": 3}) == ["1: 3 "]


async def test_what_goes_on_before_the_trigger_is_taken_into_account(world: World) -> None:
    await world.make_workflow(DELAY, step("throttle", amount=2, unit="hours", threshold=1), in_app("{{payload.n}}"))
    await world.trigger(payload={"n": 1})
    await world.work()

    # The first run passes the throttle at one o'clock, which counts until three.
    assert await contents(world, payload={"n": 2}, at="2026-01-01T01:30:00Z") == []
    assert await contents(world, payload={"n": 2}, at="2026-01-01T02:30:00Z") == ["2"]


async def test_a_message_that_no_provider_would_take_fails_as_it_would(world: World) -> None:
    body = {"providerId": "sendgrid", "channel": "email", "active": True, "identifier": "grid"}
    credentials = {"apiKey": "key", "from": "us@example.com"}
    made = await world.api.post("/v1/integrations", json={**body, "credentials": credentials})
    assert made.status_code == 201, made.text
    await world.make_workflow(step("email", subject="Hi", body="<p>Hi</p>"))
    ada = {"subscriberId": "ada", "email": "ada@example.com"}

    (taken,) = (await simulate(world, ada))["recipients"]
    (refused,) = (await simulate(world, ada, overrides={"email": {"from": "nobody"}}))["recipients"]

    assert [(one["integration"], one["providerId"], one["to"], one["subject"]) for one in taken["messages"]] == [
        ("grid", "sendgrid", "ada@example.com", "Hi")
    ]
    assert refused["messages"] == []
    assert ("attempt", "failed") in {(one["kind"], one["verdict"]) for one in refused["decisions"]}


async def test_an_error_in_a_template_is_a_decision(world: World) -> None:
    await world.make_workflow(in_app("{{ payload.n | divided_by: payload.zero }}"), in_app("Goes on"))

    (person,) = (await simulate(world, payload={"n": 1}))["recipients"]

    assert [one["content"] for one in person["messages"]] == ["Goes on"]
    (failed,) = [one for one in person["decisions"] if one["verdict"] == "failed"]
    assert (failed["kind"], failed["stepId"]) == ("content", "inbox")


async def test_preferences_can_be_pretended(world: World) -> None:
    await world.make_workflow(in_app("Hello"))
    await world.trigger()
    await world.work()

    assert await contents(world) == ["Hello"]
    assert await contents(world, preferences={"channels": {"in_app": False}}) == []
    both = {"channels": {"in_app": False}, "workflow": {"in_app": True}}
    assert await contents(world, preferences=both) == ["Hello"]
    assert await contents(world, "new", preferences={"workflow": {"in_app": False}}) == []


async def test_a_schedule_can_be_pretended_at_any_moment(world: World) -> None:
    assert (
        await world.api.post("/v1/integrations", json={"providerId": "svc-sms", "channel": "sms", "active": True})
    ).status_code == 201
    await world.make_workflow(step("sms", body="Hello"))
    ada = {"subscriberId": "ada", "phone": "+442079460000"}
    hours = {"isEnabled": True, "hours": [{"start": "09:00 AM", "end": "05:00 PM"}]}
    wants = {"schedule": {"isEnabled": True, "weeklySchedule": {"monday": hours}}}

    assert await contents(world, ada, preferences=wants, at="2026-01-05T10:00:00Z") == ["Hello"]
    assert await contents(world, ada, preferences=wants, at="2026-01-05T20:00:00Z") == []


async def test_unsaved_steps_and_earlier_versions_can_be_tried(world: World) -> None:
    await world.make_workflow(in_app("First"))
    changed = await world.api.put("/v2/workflows/welcome", json={"name": "Welcome", "steps": [in_app("Second")]})
    assert changed.status_code == 200

    assert await contents(world) == ["Second"]
    assert await contents(world, version=1) == ["First"]
    assert await contents(world, steps=[in_app("Third {{payload.n}}"), in_app("x")], payload={"n": 3}) == [
        "Third 3",
        "x",
    ]
    assert await problems(world, version=9) == ["version"]
    assert await problems(world, version=1, steps=[in_app("x")]) == ["version"]
    bad = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "{% if %}"}}
    assert await problems(world, steps=[bad]) == ["steps.0.controlValues.body"]


async def test_unsaved_steps_that_keep_their_id_meet_the_digest_under_way(world: World) -> None:
    made = await world.make_workflow(HOURLY, COUNTED)
    await world.trigger(payload={"n": 1})
    await world.work()
    digest = HOURLY | {"_id": made["steps"][0]["_id"]}

    assert await contents(world, payload={"n": 2}, steps=[digest, COUNTED]) == ["2: 1 2 "]


async def test_only_some_of_a_crowd_are_shown_and_all_are_counted(world: World) -> None:
    await world.make_workflow(in_app("Hello"))
    keys = [f"p{number:02}" for number in range(30)]
    await subscribe(world, "news", *keys)
    await subscribe(world, "more", "p29", "q1", "q2")
    news = {"type": "Topic", "topicKey": "news", "exclude": ["p00", "p01"]}
    more = {"type": "Topic", "topicKey": "more"}

    shown = await simulate(
        world, ["p02", "ada", news, more, {"type": "Topic", "topicKey": "none"}], actor="q2", limit=4
    )
    whole = await simulate(world, [news, more], limit=100)
    few = await simulate(world, ["a", "b", "c", news], limit=2)

    assert [one["subscriberId"] for one in shown["recipients"]] == ["p02", "ada", "p03", "p04"]
    # Twenty-eight of the first topic, who have p02 and p29 among them, one more of the second, and Ada.
    assert (shown["total"], shown["truncated"]) == (30, True)
    assert shown["error"] == ["Topic 'none' does not exist in this environment"]
    assert (whole["total"], len(whole["recipients"]), whole["truncated"]) == (30, 30, False)
    assert [one["subscriberId"] for one in few["recipients"]] == ["a", "b"]
    assert few["total"] == 31


async def test_a_person_whom_no_topic_lets_through_gets_a_decision(world: World, database: Database) -> None:
    await world.make_workflow(in_app("Hello"))
    await subscribe(world, "news", "ada")
    rules = json_text([{"filter": {"workflowIds": ["welcome"]}, "enabled": False}])
    here = world.api.environment.id
    await database.transaction(lambda db: db.execute(SET_RULES, environment_id=here, rules=rules))

    (person,) = (await simulate(world, {"type": "Topic", "topicKey": "news"}))["recipients"]

    assert person["messages"] == []
    assert "stopped" in {one["verdict"] for one in person["decisions"]}


async def test_until_ends_the_simulation(world: World) -> None:
    await world.make_workflow(DELAY, in_app("Late"))

    (person,) = (await simulate(world, until="2026-01-01T00:30:00Z"))["recipients"]

    assert person["messages"] == []
    assert person["decisions"][-1]["verdict"] == "waiting"


async def test_a_trigger_that_would_not_run_says_why(world: World) -> None:
    await world.make_workflow(in_app("Hello"), active=False)
    await world.make_workflow(in_app("Hello"), key="other")
    await world.trigger(name="other", transactionId="once")

    inactive = await simulate(world)
    repeated = await simulate(world, name="other", transactionId="once")

    assert (inactive["status"], inactive["recipients"], inactive["total"]) == ("trigger_not_active", [], 0)
    assert repeated["recipients"] == []
    assert "'once' was seen before" in repeated["error"][0]


async def test_bad_input_is_refused_as_by_the_trigger(world: World) -> None:
    await world.make_workflow(in_app("Hello"), payloadSchema={"required": ["n"]}, validatePayload=True)
    unknown = await world.api.post("/v1/simulate", json={"name": "nothing", "to": "ada"})
    lacking = await world.api.post("/v1/simulate", json={"name": "welcome", "to": "ada"})

    assert (unknown.status_code, unknown.json()["message"]) == (422, "workflow_not_found")
    assert (lacking.status_code, lacking.json()["type"]) == (400, "PAYLOAD_VALIDATION_ERROR")
    assert await problems(world, to=[]) == ["to"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"at": "soon"}, ["at"]),
        ({"at": "2029-01-01T00:00:00Z"}, ["at"]),
        ({"until": "2025-12-31T00:00:00Z"}, ["until"]),
        ({"until": "2028-01-01T00:00:00Z"}, ["until"]),
        ({"at": "2029-01-01T00:00:00Z", "to": []}, ["at", "to"]),
        ({"limit": 0}, ["limit"]),
        ({"limit": 101}, ["limit"]),
        ({"version": 0}, ["version"]),
        ({"preferences": {"channels": {"email": 1}}}, ["preferences.channels.email"]),
        ({"preferences": {"chanels": {}}}, ["preferences.chanels"]),
        ({"steps": [{"name": "x", "type": "teleport"}]}, ["steps.0.type"]),
    ],
)
async def test_bad_circumstances_are_named(world: World, fields: dict[str, Any], expected: list[str]) -> None:
    await world.make_workflow(in_app("Hello"))

    assert await problems(world, **fields) == expected


async def test_preferences_of_a_critical_workflow_cannot_be_pretended(world: World) -> None:
    preferences = {"user": {"all": {"enabled": True, "readOnly": True}, "channels": {}}}
    await world.make_workflow(in_app("Hello"), preferences=preferences)

    assert await problems(world, preferences={"workflow": {"in_app": False}}) == ["preferences.workflow"]
    assert await contents(world, preferences={"channels": {"in_app": False}}) == ["Hello"]


async def test_a_simulation_needs_the_scopes_of_what_it_shows(make_api: MakeApi, world: World) -> None:
    await world.make_workflow(in_app("Hello"))
    shown = frozenset({Scope.SUBSCRIBERS_READ, Scope.TOPICS_READ, Scope.PREFERENCES_READ, Scope.WORKFLOWS_READ})
    body = {"name": "welcome", "to": "ada"}

    reader = await make_api(scopes=shown | {Scope.EVENTS_READ})
    assert (await reader.post("/v1/simulate", json=body)).status_code == 200
    writer = await make_api(scopes=shown | {Scope.EVENTS_WRITE})
    assert (await writer.post("/v1/simulate", json=body)).status_code == 403
    for scope in shown:
        blind = await make_api(scopes=shown - {scope} | {Scope.EVENTS_READ})
        refused = await blind.post("/v1/simulate", json=body)
        assert (refused.status_code, scope in refused.json()["message"]) == (403, True)


async def test_a_simulation_counts_as_a_trigger_for_each_person_it_shows(world: World) -> None:
    await world.make_workflow(in_app("Hello"))
    me = (await world.api.get("/v1/environments/me")).json()
    limits = {"limits": {"trigger": {"perSecond": 1, "burst": 5}}}
    changed = await world.api.patch(f"/v1/environments/{me['_id']}", json=limits)
    assert changed.status_code == 200, changed.text
    body = {"name": "welcome", "to": ["a", "b", "c"]}

    first = await world.api.post("/v1/simulate", json=body)
    second = await world.api.post("/v1/simulate", json=body)
    world.clock.move(5 * MINUTE)
    fewer = await world.api.post("/v1/simulate", json={**body, "limit": 2})

    assert [first.status_code, second.status_code, fewer.status_code] == [200, 429, 200]
