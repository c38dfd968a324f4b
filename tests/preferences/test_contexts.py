"""What people switch in a context holds for messages of exactly this context, before what holds everywhere."""

import re
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
from tests.support import Api, MakeApi, Site

__all__ = ["_log_no_errors", "browser", "logged_errors", "make_person", "settings", "world"]

PATH = "/v2/subscribers/ada/preferences"
ACME = {"tenant": "acme"}
BETA = {"tenant": "beta"}
OF_ACME = ("tenant:acme",)
HELLO = in_app("Hello {{context.tenant.id}}")
EMAIL = step("email", subject="Hi", body="<p>{{unsubscribe_url}}</p>")
MAIL_ADA = {"subscriberId": "ada", "email": "ada@example.com"}
LIST_ROWS = sql("""
    SELECT context_keys, channel, enabled, reason FROM context_preferences WHERE environment_id = :environment_id
""")
FILL_CONTEXTS = sql("""
    INSERT INTO context_preferences (
        environment_id, subscriber_id, context_keys, workflow_id, channel, enabled, updated_at
    )
    SELECT environment_id, id, CAST(:contexts AS TEXT), id, 'sms',
        CAST(:enabled AS BOOLEAN), CAST(:moment AS BIGINT) FROM subscribers
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


async def fill(database: Database, api: Api, count: int) -> None:
    """Give ada preferences in so many sets of contexts, the first one the oldest."""
    rows = [
        {"environment_id": api.environment.id, "contexts": f'["t:{one:03}"]', "enabled": one > 0, "moment": one}
        for one in range(count)
    ]
    await database.transaction(lambda db: db.execute_many(FILL_CONTEXTS, rows))


async def list_sets(database: Database, api: Api) -> set[str]:
    rows = await database.read(lambda db: db.fetch(LIST_ROWS, environment_id=api.environment.id))
    return {row["context_keys"] for row in rows}


async def test_a_person_has_preferences_in_a_limited_number_of_contexts(
    world: World, make_person: MakePerson, database: Database
) -> None:
    of_acme = await make_person("ada", context_keys=OF_ACME)
    of_beta = await make_person("ada", context_keys=("tenant:beta",))
    await fill(database, world.api, MAX_CONTEXTS - 1)

    last = await of_acme.patch("/v1/inbox/preferences", json={"email": False})
    again = await of_acme.patch("/v1/inbox/preferences", json={"email": True})
    beyond = await of_beta.patch("/v1/inbox/preferences", json={"email": True})

    assert [last.status_code, again.status_code, beyond.status_code] == [200, 200, 422]
    assert list(beyond.json()["errors"]) == ["context"]


async def test_switching_off_is_never_refused_and_takes_the_place_of_the_oldest_that_is_on(
    world: World, make_person: MakePerson, database: Database
) -> None:
    of_acme = await make_person("ada", context_keys=OF_ACME)
    await fill(database, world.api, MAX_CONTEXTS)

    switched = await of_acme.patch("/v1/inbox/preferences", json={"email": False})

    sets = await list_sets(database, world.api)
    assert switched.status_code == 200
    assert len(sets) == MAX_CONTEXTS
    assert '["t:000"]' in sets  # oldest, and off
    assert '["t:001"]' not in sets
    assert '["tenant:acme"]' in sets


async def test_sessions_without_proof_make_no_preferences_in_contexts_that_do_not_exist(
    world: World, make_person: MakePerson, database: Database
) -> None:
    await world.make_workflow(HELLO)
    stranger = await make_person("ada", context_keys=("tenant:acme", "x:junk"), is_proven=False)
    workflow = (await stranger.get("/v1/inbox/preferences")).json()["data"][1]["workflow"]["id"]
    bulk = {"preferences": [{"workflowId": "welcome", "in_app": False}]}

    refused = [
        await stranger.patch("/v1/inbox/preferences", json={"in_app": False}),
        await stranger.patch(f"/v1/inbox/preferences/{workflow}", json={"in_app": False}),
        await stranger.patch("/v1/inbox/preferences/bulk", json=bulk),
    ]
    nothing = await list_sets(database, world.api)
    for kind, key in (("tenant", "acme"), ("x", "junk")):
        await world.api.post("/v2/contexts", json={"type": kind, "id": key})
    accepted = await stranger.patch("/v1/inbox/preferences", json={"in_app": False})

    assert [one.status_code for one in refused] == [422] * 3
    assert "x:junk" in refused[0].json()["errors"]["context"]["messages"][0]
    assert nothing == set()
    assert accepted.status_code == 200


async def test_preferences_in_a_context_go_with_it(
    world: World, make_api: MakeApi, site: Site, database: Database
) -> None:
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})
    production = await make_api(site.production)
    await production.post("/v2/subscribers", json={"subscriberId": "ada"})
    for api in (world.api, production):
        for context in (ACME, BETA, ACME | {"app": "shop"}, {"tenant": "acme2"}):
            await switch(api, context, channels={"email": False})

    assert (await world.api.delete("/v2/contexts/tenant/acme")).status_code == 204

    sets = {'["tenant:beta"]', '["tenant:acme2"]'}
    assert await list_sets(database, world.api) == sets
    assert await list_sets(database, production) == sets | {'["tenant:acme"]', '["app:shop","tenant:acme"]'}


async def mail_link(world: World, context: dict[str, Any]) -> str:
    """Send ada an e-mail in a context; returns the path of the link in its header."""
    await world.make_workflow(in_app("{{unsubscribe_url}}"), EMAIL)
    await world.api.post("/v1/integrations", json={"providerId": "svc-email", "channel": "email", "active": True})
    await world.trigger(MAIL_ADA, context=context)
    await world.work()
    (message,) = await world.messages(channel="email")
    shown = (await world.api.get(f"/v1/messages/{message['_id']}")).json()
    link: str = shown["mail"]["headers"]["List-Unsubscribe"]
    return link.split("token=")[1].rstrip(">")


async def trigger_mails(world: World, *contexts: dict[str, Any]) -> int:
    """Trigger in each of the contexts; returns how many e-mails ada has then."""
    for context in contexts:
        await world.trigger(MAIL_ADA, context=context)
    await world.work()
    return len(await world.messages(channel="email"))


async def test_one_click_unsubscribes_whoever_has_too_many_contexts(
    world: World, browser: httpx.AsyncClient, database: Database
) -> None:
    token = await mail_link(world, ACME)
    await fill(database, world.api, MAX_CONTEXTS)

    answer = await browser.post(f"/unsubscribe?token={token}", data={"List-Unsubscribe": "One-Click"})

    assert answer.status_code == 200
    assert await trigger_mails(world, ACME) == 1


async def test_a_link_of_long_contexts_switches_in_all_of_them(
    world: World, browser: httpx.AsyncClient, database: Database
) -> None:
    long = {letter * 100: "x" * 100 for letter in "abc"}
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})
    await switch(world.api, long, channels={"email": True})
    await switch(world.api, ACME, channels={"sms": False})
    token = await mail_link(world, long)
    assert len(token) < 900
    before = await browser.get(f"/unsubscribe?token={token}")

    answer = await browser.post(f"/unsubscribe?token={token}", data={"List-Unsubscribe": "One-Click"})
    asked = await browser.get(f"/unsubscribe?token={token}")
    unsubscribed = await trigger_mails(world, long, ACME, {})
    await browser.post(f"/unsubscribe?token={token}", data={"action": "subscribe"})
    again = await trigger_mails(world, long, ACME, {})
    await browser.post(f"/preferences?token={token}", data=await _nothing_chosen(browser, token))

    assert answer.status_code == 200
    assert 'value="subscribe"' not in before.text
    assert 'value="subscribe"' in asked.text
    assert (unsubscribed, again) == (1, 4)
    assert await trigger_mails(world, long, ACME, {}) == 4


async def _nothing_chosen(browser: httpx.AsyncClient, token: str) -> dict[str, list[str]]:
    page = await browser.get(f"/preferences?token={token}")
    return {"shown": re.findall(r'name="shown" value="([^"]+)"', page.text)}


async def test_a_link_is_about_the_context_of_its_message(
    world: World, browser: httpx.AsyncClient, database: Database
) -> None:
    token = await mail_link(world, ACME)

    await browser.post(f"/unsubscribe?token={token}", data={"List-Unsubscribe": "One-Click"})
    await trigger_mails(world, ACME, BETA)
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
