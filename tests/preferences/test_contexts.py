"""What people switch in a context holds for messages of exactly this context, before what holds everywhere."""

from typing import Any

import httpx
import pytest

from clarion.db.port import Database
from clarion.db.query import sql
from clarion.preferences.store import MAX_CONTEXTS
from clarion.vocabulary import Scope
from tests.engine.conftest import _log_no_errors, logged_errors
from tests.engine.support import World, in_app, step
from tests.explain.support import explain_newest, only
from tests.inbox.conftest import MakePerson, make_person
from tests.preferences.unsubscribe.conftest import browser, settings, world
from tests.support import Api, MakeApi

__all__ = ["_log_no_errors", "browser", "logged_errors", "make_person", "settings", "world"]

PATH = "/v2/subscribers/ada/preferences"
ACME = {"tenant": "acme"}
BETA = {"tenant": "beta"}
OF_ACME = ("tenant:acme",)
HELLO = in_app("Hello {{context.tenant.id}}")
EMAIL = step("email", subject="Hi", body="<p>{{unsubscribe_url}}</p>")
LIST_ROWS = sql("""
    SELECT context_keys, channel, enabled, reason FROM context_preferences WHERE environment_id = :environment_id
""")
FILL_CONTEXTS = sql("""
    INSERT INTO context_preferences (
        environment_id, subscriber_id, context_keys, workflow_id, channel, enabled, updated_at
    )
    SELECT environment_id, id, CAST(:contexts AS TEXT), id, 'sms', TRUE, 0 FROM subscribers
    WHERE environment_id = :environment_id AND key = 'ada'
""")


async def switch(api: Api, context: dict[str, Any] | None = None, **body: Any) -> httpx.Response:
    response = await api.patch(PATH, json=body if context is None else {"context": context, **body})
    assert response.status_code == 200, response.text
    return response


async def read(api: Api, *keys: str) -> tuple[dict[str, bool], dict[str, bool], list[str]]:
    """What holds for all workflows, for the first one, and by which layers."""
    response = await api.get(PATH, params={"contextKeys": list(keys)} if keys else {})
    overview = response.json()
    (workflow,) = overview["workflows"]
    return overview["global"]["channels"], workflow["channels"], [one["layer"] for one in workflow["overrides"]]


async def test_a_choice_holds_for_messages_of_exactly_its_context(world: World) -> None:
    await world.make_workflow(HELLO)
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})

    await switch(world.api, ACME, workflowId="welcome", channels={"in_app": False})
    for context in ({}, ACME, BETA, ACME | {"app": "shop"}):
        await world.trigger(context=context)
    await world.work()

    assert await world.feed() == ["Hello ", "Hello beta", "Hello acme"]
    (acme,) = await world.events(contextKeys="tenant:acme")
    assert acme["jobs"][0]["status"] == "skipped"


async def test_what_holds_everywhere_holds_in_contexts_without_a_choice(world: World) -> None:
    await world.make_workflow(HELLO)
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})

    await switch(world.api, workflowId="welcome", channels={"in_app": False})
    await switch(world.api, ACME, channels={"in_app": True})
    for context in ({}, ACME, BETA):
        await world.trigger(context=context)
    await world.work()

    assert await world.feed() == ["Hello acme"]
    assert await read(world.api, "tenant:acme") == (
        {"in_app": True},
        {"in_app": True},
        ["subscriber global in context"],
    )
    assert await read(world.api) == ({"in_app": True}, {"in_app": False}, ["subscriber workflow"])
    assert await read(world.api, "tenant:beta") == await read(world.api)


async def test_a_context_that_is_named_is_made_and_its_data_is_stored_by_those_who_may(
    world: World, make_api: MakeApi
) -> None:
    await world.make_workflow(HELLO)
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})
    weak = await make_api(scopes=[Scope.PREFERENCES_WRITE])
    given = {"tenant": {"id": "acme", "data": {"name": "Acme"}}}

    refused = await weak.patch(PATH, json={"context": given, "channels": {"sms": False}})
    unmade = await world.api.get("/v2/contexts/tenant/acme")
    await switch(world.api, given, channels={"sms": False})

    assert "context.tenant.data is not stored" in refused.headers["clarion-warnings"]
    assert unmade.status_code == 404
    assert (await world.api.get("/v2/contexts/tenant/acme")).json()["data"] == {"name": "Acme"}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"context": {"tenant": "a/b"}, "channels": {}}, "context.tenant.id"),
        ({"context": ACME, "schedule": {"isEnabled": False}}, "schedule"),
    ],
)
async def test_what_has_no_meaning_in_a_context_is_refused(api: Api, body: dict[str, Any], path: str) -> None:
    await api.post("/v2/subscribers", json={"subscriberId": "ada"})

    response = await api.patch(PATH, json=body)

    assert (response.status_code, list(response.json()["errors"])) == (422, [path])


async def test_several_workflows_are_switched_in_a_context(world: World) -> None:
    await world.make_workflow(HELLO)
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})
    change = {"workflowId": "welcome", "channels": {"in_app": False}}

    response = await world.api.patch(f"{PATH}/bulk", json={"context": ACME, "preferences": [change]})

    assert [one["channels"] for one in response.json()] == [{"in_app": False}]
    assert [(await read(world.api, *keys))[1] for keys in (["tenant:acme"], [])] == [
        {"in_app": False},
        {"in_app": True},
    ]


async def test_a_session_of_a_context_reads_and_switches_there(world: World, make_person: MakePerson) -> None:
    await world.make_workflow(HELLO)
    ada, of_acme = await make_person("ada"), await make_person("ada", context_keys=OF_ACME)

    async def listed(person: httpx.AsyncClient) -> list[dict[str, bool]]:
        return [one["channels"] for one in (await person.get("/v1/inbox/preferences")).json()["data"]]

    await of_acme.patch("/v1/inbox/preferences/welcome", json={"in_app": False})
    one_off = await listed(ada), await listed(of_acme)
    await of_acme.patch("/v1/inbox/preferences", json={"in_app": True})
    both_on = await listed(of_acme)
    await ada.patch("/v1/inbox/preferences", json={"in_app": False})
    changes = {"preferences": [{"workflowId": "welcome", "in_app": True}]}
    bulk = (await of_acme.patch("/v1/inbox/preferences/bulk", json=changes)).json()["data"]

    on, off = {"in_app": True}, {"in_app": False}
    assert one_off == ([on, on], [on, off])
    assert both_on == [on, on]
    assert bulk[0]["channels"] == on
    assert (await listed(ada), await listed(of_acme)) == ([off, off], [on, on])


async def test_a_person_has_preferences_in_a_limited_number_of_contexts(
    world: World, make_person: MakePerson, database: Database
) -> None:
    of_acme = await make_person("ada", context_keys=OF_ACME)

    async def fill(first: int, last: int) -> None:
        rows = [{"environment_id": world.api.environment.id, "contexts": f'["t:{one}"]'} for one in range(first, last)]
        await database.transaction(lambda db: db.execute_many(FILL_CONTEXTS, rows))

    await fill(0, MAX_CONTEXTS - 1)
    last = await of_acme.patch("/v1/inbox/preferences", json={"email": False})
    again = await of_acme.patch("/v1/inbox/preferences", json={"email": True})
    beyond = await (await make_person("ada", context_keys=("tenant:beta",))).patch(
        "/v1/inbox/preferences", json={"email": False}
    )

    assert [last.status_code, again.status_code, beyond.status_code] == [200, 200, 422]
    assert list(beyond.json()["errors"]) == ["context"]


async def test_a_link_is_about_the_context_of_its_message(
    world: World, browser: httpx.AsyncClient, database: Database
) -> None:
    await world.make_workflow(in_app("{{unsubscribe_url}}"), EMAIL)
    await world.api.post("/v1/integrations", json={"providerId": "svc-email", "channel": "email", "active": True})
    ada = {"subscriberId": "ada", "email": "ada@example.com"}
    await world.trigger(ada, context=ACME)
    await world.work()
    (message,) = await world.messages(channel="email")
    link = (await world.api.get(f"/v1/messages/{message['_id']}")).json()["mail"]["headers"]["List-Unsubscribe"]
    token = link.split("token=")[1].rstrip(">")

    await browser.post(f"/unsubscribe?token={token}", data={"List-Unsubscribe": "One-Click"})
    for context in (ACME, BETA):
        await world.trigger(ada, context=context)
    await world.work()
    rows = await database.read(lambda db: db.fetch(LIST_ROWS, environment_id=world.api.environment.id))
    asked = await browser.get(f"/unsubscribe?token={token}")
    chosen = await browser.get(f"/preferences?token={token}")

    mails = await world.messages(channel="email")
    assert [one["contextKeys"] for one in mails] == [["tenant:acme"], ["tenant:beta"]]
    assert [tuple(row.values()) for row in rows] == [('["tenant:acme"]', "email", False, "one_click")]
    assert 'value="subscribe"' in asked.text
    assert chosen.text.count(" checked") == 1


async def test_the_explanation_names_the_context(world: World) -> None:
    await world.make_workflow(HELLO)
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada", "firstName": "Ada"})
    await switch(world.api, ACME, workflowId="welcome", channels={"in_app": False})

    await world.trigger(context=ACME)
    await world.work()
    explained = await explain_newest(world)

    decision = only(explained, "preference")
    assert "for the workflow 'Welcome' in tenant:acme" in decision["summary"]
    assert decision["values"]["switchedAt"]


async def test_a_simulation_has_what_was_switched_in_its_context(world: World) -> None:
    await world.make_workflow(HELLO)
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})
    await switch(world.api, ACME, channels={"in_app": False})

    async def simulate(**fields: Any) -> int:
        body = {"name": "welcome", "to": "ada", **fields}
        simulated = (await world.api.post("/v1/simulate", json=body)).json()
        return sum(len(person["messages"]) for person in simulated["recipients"])

    assert [await simulate(), await simulate(context=ACME), await simulate(context=BETA)] == [1, 0, 1]
    assert await simulate(context=ACME, preferences={"channels": {"in_app": True}}) == 1
