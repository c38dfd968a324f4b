"""Contexts of triggers: kept with every message, seen by templates, and never mixed in a digest."""

import json
from typing import Any

import pytest

from clarion.db.port import Database
from clarion.db.query import sql
from tests.engine.support import World, in_app, step

LIST_KEYS = sql("""
    SELECT content, channel, context_keys FROM messages WHERE environment_id = :environment_id ORDER BY id
""")
ACME: dict[str, Any] = {"tenant": {"id": "acme", "data": {"name": "Acme & Co"}}, "app": "jira"}


async def list_keys(world: World, database: Database) -> list[tuple[str, list[str] | None]]:
    environment_id = world.api.environment.id
    rows = await database.read(lambda db: db.fetch(LIST_KEYS, environment_id=environment_id))
    return [(row["content"], row["context_keys"] and json.loads(row["context_keys"])) for row in rows]


async def test_messages_keep_the_context_of_their_trigger_and_templates_see_it(
    world: World, database: Database
) -> None:
    body = "{{context.tenant.data.name}} {{context.tenant.id}} {{context.app.id}} {{context.app.data.x}}"
    await world.make_workflow(in_app(body), step("sms", body="{{context.tenant.id}}"))
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada", "phone": "+441632960000"})
    await world.api.post("/v1/integrations", json={"providerId": "svc-sms", "channel": "sms", "active": True})

    await world.trigger(context=ACME)
    await world.work()

    keys = ["app:jira", "tenant:acme"]
    assert sorted(await list_keys(world, database)) == [("Acme & Co acme jira ", keys), ("acme", keys)]


@pytest.mark.parametrize("context", [None, {}])
async def test_without_context_messages_have_none(world: World, database: Database, context: Any) -> None:
    await world.make_workflow(in_app("[{{context.tenant.id}}]"))

    await world.trigger(context=context)
    await world.trigger()
    await world.work()

    assert await list_keys(world, database) == [("[]", None), ("[]", None)]


async def test_a_context_reaches_everyone_of_a_topic_and_survives_a_delay(world: World, database: Database) -> None:
    people = [f"person-{number}" for number in range(5)]
    await world.api.post("/v1/subscribers/bulk", json={"subscribers": [{"subscriberId": one} for one in people]})
    await world.api.post("/v2/topics/news/subscriptions", json={"subscriberIds": people})
    await world.make_workflow(step("delay", type="regular", amount=1, unit="hours"), in_app("{{context.tenant.id}}"))

    await world.trigger({"type": "Topic", "topicKey": "news"}, context={"tenant": "acme"})
    await world.work()
    await world.work(after=3_600_000)

    assert await list_keys(world, database) == [("acme", ["tenant:acme"])] * 5


async def test_events_of_different_contexts_are_digested_apart(world: World, database: Database) -> None:
    digest = step("digest", type="regular", amount=1, unit="hours")
    await world.make_workflow(digest, in_app("{{step.events | map: 'n' | join: ','}}"))

    for number, context in enumerate(({"tenant": "acme"}, {"tenant": "globex"}, {"tenant": {"id": "acme"}}, None, {})):
        await world.trigger(payload={"n": number}, context=context)
    await world.work()
    await world.work(after=3_600_000)

    assert dict(await list_keys(world, database)) == {"0,2": ["tenant:acme"], "1": ["tenant:globex"], "3,4": None}


async def test_conditions_see_the_context(world: World, database: Database) -> None:
    rule = {"==": [{"var": "context.tenant.id"}, "acme"]}
    await world.make_workflow(in_app("Hello", skip=rule))

    await world.trigger(context={"tenant": "acme"})
    await world.trigger(context={"tenant": "globex"})
    await world.work()

    assert await list_keys(world, database) == [("Hello", ["tenant:acme"])]


async def test_a_broadcast_and_each_event_of_a_bulk_have_their_own_context(world: World, database: Database) -> None:
    await world.make_workflow(in_app("{{payload.n}}"))
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})

    event = {"name": "welcome", "to": "ada"}
    await world.api.post(
        "/v1/events/trigger/bulk",
        json={"events": [event | {"payload": {"n": "a"}, "context": {"app": "x"}}, event | {"payload": {"n": "b"}}]},
    )
    await world.api.post(
        "/v1/events/trigger/broadcast", json={"name": "welcome", "payload": {"n": "c"}, "context": {"app": "y"}}
    )
    await world.work()

    assert sorted(await list_keys(world, database)) == [("a", ["app:x"]), ("b", None), ("c", ["app:y"])]


@pytest.mark.parametrize(
    ("context", "field"),
    [
        ("acme", "context"),
        ({"tenant": None}, "context.tenant"),
        ({"tenant": {"data": {}}}, "context.tenant"),
        ({"tenant": {"id": ""}}, "context.tenant.id"),
        ({"tenant": "a b"}, "context.tenant.id"),
        ({"a:b": "x"}, "context.a:b"),
        ({"tenant": {"id": "x", "data": "y"}}, "context.tenant.data"),
        ({"tenant": {"id": "x", "data": {"text": "y" * 70_000}}}, "context.tenant.data"),
        (dict.fromkeys("abcdef", "x"), "context"),
    ],
)
async def test_a_context_that_is_not_valid_is_refused(world: World, context: Any, field: str) -> None:
    await world.make_workflow(in_app("Hello"))

    response = await world.post(context=context)

    assert response.status_code == 422
    assert list(response.json()["errors"]) == [field]


async def test_deleting_a_person_erases_the_context_of_triggers_for_them_alone(
    world: World, database: Database
) -> None:
    await world.make_workflow(in_app("Hello"))
    await world.trigger(context=ACME)
    await world.work()
    await world.api.delete("/v2/subscribers/ada")
    await world.work()

    query = sql("SELECT context FROM triggers WHERE environment_id = :environment_id")
    rows = await database.read(lambda db: db.fetch(query, environment_id=world.api.environment.id))
    assert [row["context"] for row in rows] == [None]
