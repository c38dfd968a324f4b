"""Contexts of triggers: made where they do not exist, and seen by templates as they are stored."""

import json
from typing import Any

import pytest

from clarion.contexts.actions import find_existing
from clarion.contexts.model import Contexts
from clarion.contexts.store import INLINE_DATA, list_small_data
from clarion.db.port import Database
from clarion.vocabulary import Scope
from tests.engine.support import World, in_app, step
from tests.support import Api, MakeApi

TEXT = "{{context.tenant.id}}: {{context.tenant.data.name}}"
TENANT = {"tenant": {"id": "acme", "data": {"name": "Acme"}}}


async def data_of(api: Api, key: str = "acme") -> Any:
    response = await api.get(f"/v2/contexts/tenant/{key}")
    return response.json()["data"] if response.status_code == 200 else None


async def test_a_trigger_makes_the_context_that_does_not_exist(world: World) -> None:
    await world.make_workflow(in_app(TEXT))

    await world.trigger(context=TENANT)
    await world.work()

    assert await data_of(world.api) == {"name": "Acme"}
    assert await world.feed() == ["acme: Acme"]


async def test_data_of_a_context_that_exists_is_not_changed_and_the_response_says_so(world: World) -> None:
    await world.make_workflow(in_app(TEXT))
    await world.api.post("/v2/contexts", json={"type": "tenant", "id": "acme", "data": {"name": "Stored"}})

    response = await world.post(context=TENANT)
    same = await world.post(context={"tenant": {"id": "acme", "data": {"name": "Stored"}}})
    named = await world.post(context={"tenant": "acme"})
    await world.work()

    assert await data_of(world.api) == {"name": "Stored"}
    assert await world.feed() == ["acme: Stored"] * 3
    (warning,) = json.loads(response.headers["clarion-warnings"])
    assert warning.startswith("context.tenant.data is not used")
    assert [one for one in (same, named) if "clarion-warnings" in one.headers] == []


async def test_messages_see_the_data_as_it_is_when_they_are_made(world: World) -> None:
    await world.make_workflow(in_app(TEXT), step("delay", type="regular", amount=1, unit="hours"), in_app(TEXT))
    await world.trigger(context=TENANT)
    await world.work()

    await world.api.patch("/v2/contexts/tenant/acme", json={"data": {"name": "Acme Ltd"}})
    await world.work(after=3_600_000)

    assert await world.feed() == ["acme: Acme", "acme: Acme Ltd"]


async def test_data_of_a_deleted_context_is_empty(world: World) -> None:
    await world.make_workflow(in_app(TEXT))
    await world.trigger(context=TENANT)

    await world.api.delete("/v2/contexts/tenant/acme")
    await world.work()

    assert await world.feed() == ["acme: "]


async def test_long_data_is_cached_until_it_changes(world: World) -> None:
    await world.make_workflow(in_app(TEXT))
    long = {"text": "x" * INLINE_DATA}

    for name in ("One", "Two", "Three"):
        await world.api.post("/v2/contexts", json={"type": "tenant", "id": "acme", "data": long | {"name": "One"}})
        await world.api.patch("/v2/contexts/tenant/acme", json={"data": long | {"name": name}})
        for _ in range(2):
            await world.trigger(context={"tenant": "acme"})
            await world.work()

    assert await world.feed() == [f"acme: {name}" for name in ("One", "One", "Two", "Two", "Three", "Three")]


async def test_a_bulk_makes_each_context_once(world: World) -> None:
    await world.make_workflow(in_app(TEXT))
    events = [
        {"name": "welcome", "to": "ada", "context": {"tenant": {"id": key, "data": {"name": name}}}}
        for key, name in (("acme", "Acme"), ("acme", "Later"), ("beta", "Beta"))
    ]

    response = await world.api.post("/v1/events/trigger/bulk", json={"events": events})
    await world.work()

    assert response.status_code == 201
    assert (await data_of(world.api), await data_of(world.api, "beta")) == ({"name": "Acme"}, {"name": "Beta"})
    assert await world.feed() == ["acme: Acme", "acme: Acme", "beta: Beta"]


async def test_only_the_contexts_that_are_named_are_read(world: World, database: Database) -> None:
    environment_id = world.api.environment.id
    pairs = [(kind, key) for kind in ("app", "tenant") for key in ("acme", "beta")]
    for kind, key in pairs:
        await world.api.post("/v2/contexts", json={"type": kind, "id": key, "data": {"of": f"{kind}:{key}"}})
    given: list[Contexts] = [{"app": {"id": "acme"}}, {"tenant": {"id": "beta", "data": {"x": 1}}}]

    small = await database.read(lambda db: list_small_data(db, environment_id, [pairs[0], pairs[3]]))
    existing = await database.read(lambda db: find_existing(db, environment_id, given))

    assert sorted(small) == [pairs[0], pairs[3]] == sorted(existing)
    assert existing[pairs[0]] is None
    assert existing[pairs[3]] is not None


async def test_a_trigger_that_was_seen_before_makes_no_context(world: World) -> None:
    await world.make_workflow(in_app(TEXT))
    await world.trigger(transactionId="once")

    await world.trigger(transactionId="once", context=TENANT)

    assert await data_of(world.api) is None


async def test_a_trigger_that_is_refused_makes_no_context(world: World) -> None:
    assert (await world.post(name="missing", context=TENANT)).status_code == 422

    assert await data_of(world.api) is None


async def test_a_key_without_the_scope_stores_no_context(world: World, make_api: MakeApi) -> None:
    await world.make_workflow(in_app(TEXT))
    api = await make_api(scopes={Scope.EVENTS_WRITE})
    body = {"name": "welcome", "to": "ada"}

    given = await api.post("/v1/events/trigger", json=body | {"context": TENANT})
    named = await api.post("/v1/events/trigger", json=body | {"context": {"tenant": "acme"}})
    await world.work()

    assert await data_of(world.api) is None
    assert await world.feed() == ["acme: Acme", "acme: "]
    (warning,) = json.loads(given.headers["clarion-warnings"])
    assert "contexts:write" in warning
    assert "clarion-warnings" not in named.headers


async def test_conditions_see_the_stored_data(world: World) -> None:
    await world.api.post("/v2/contexts", json={"type": "tenant", "id": "acme", "data": {"plan": "pro"}})
    skip = {"==": [{"var": "context.tenant.data.plan"}, "pro"]}
    await world.make_workflow(in_app("for pro", skip=skip))

    await world.trigger(context={"tenant": {"id": "acme", "data": {"plan": "free"}}})
    await world.trigger(context={"tenant": {"id": "beta", "data": {"plan": "free"}}})
    await world.work()

    assert len(await world.feed()) == 1


async def test_a_simulation_sees_stored_data_and_stores_nothing(world: World) -> None:
    await world.make_workflow(in_app(TEXT))
    await world.api.post("/v2/contexts", json={"type": "tenant", "id": "acme", "data": {"name": "Stored"}})

    texts = []
    for key in ("acme", "beta"):
        body = {"name": "welcome", "to": "ada", "context": {"tenant": {"id": key, "data": {"name": "Given"}}}}
        simulated = (await world.api.post("/v1/simulate", json=body)).json()
        texts += [one["content"] for person in simulated["recipients"] for one in person["messages"]]

    assert texts == ["acme: Stored", "beta: Given"]
    assert await data_of(world.api, "beta") is None


@pytest.mark.parametrize("hostile", ["{{subscriber.email}}", "<b>bold</b>", "{% raw %}", "\r\nBcc: eve@example.org"])
async def test_data_never_becomes_a_template(world: World, hostile: str) -> None:
    await world.make_workflow(in_app("{{context.tenant.data.name}}", disableOutputSanitization=True))

    await world.trigger(context={"tenant": {"id": "acme", "data": {"name": hostile}}})
    await world.work()

    assert await world.feed() == [hostile]
