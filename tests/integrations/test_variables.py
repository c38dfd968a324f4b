"""Variables of the environment in credentials: `{{env.KEY}}`, with the value of the environment that sends."""

import json
import logging
from functools import partial
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.ids import IntegrationId, find_id, id_text
from clarion.integrations.store import get_integration
from clarion.integrations.variables import with_variables
from clarion.providers.chat.webex_messaging import WebexCredentials
from clarion.providers.definition.credentials import read_credentials
from clarion.providers.definition.result import SendFailure
from clarion.vault import Vault
from clarion.vocabulary import Scope
from tests.engine.conftest import _log_no_errors, logged_errors, world
from tests.engine.providers import ADA, EMAIL, SENDER, account
from tests.engine.support import World
from tests.providers.loopback import web_server
from tests.support import Api, MakeApi, Site

__all__ = ["_log_no_errors", "logged_errors", "world"]

VARIABLES = "/v1/environment-variables"
INTEGRATIONS = "/v1/integrations"

SET_SOURCE = sql(
    "UPDATE integrations SET reports_from = 'an account' WHERE environment_id = :environment_id AND id = :id"
)
PUT_FAILURES = sql("""
    INSERT INTO integration_health (environment_id, integration_id, failures, allowance, refilled_at)
    VALUES (:environment_id, :id, 7, 0, 0)
    ON CONFLICT (environment_id, integration_id) DO UPDATE SET failures = 7
""")
LIST_STATE = sql("""
    SELECT i.reports_from, h.failures FROM integrations AS i
    JOIN integration_health AS h ON h.environment_id = i.environment_id AND h.integration_id = i.id
    WHERE i.environment_id = :environment_id AND i.id = :id
""")


async def put(api: Api, key: str, value: str, **fields: Any) -> None:
    values = [{"_environmentId": id_text(api.environment.id), "value": value}]
    response = await api.patch(f"{VARIABLES}/{key}", json={"values": values})
    if response.status_code == 404:
        response = await api.post(VARIABLES, json={"key": key, "values": values, **fields})
    assert response.status_code == 200, response.text


async def post(api: Api, *, active: bool = True, **credentials: Any) -> httpx.Response:
    """Create an integration of `email-webhook`."""
    given = {"from": SENDER, "secretKey": "s", "webhookUrl": "https://hooks.example.com/long-path-1", **credentials}
    body = {"providerId": "email-webhook", "channel": "email", "identifier": "mine", "active": active}
    return await api.post(INTEGRATIONS, json=body | {"credentials": given})


async def make(api: Api, **fields: Any) -> dict[str, Any]:
    response = await post(api, **fields)
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


def problems_of(response: httpx.Response) -> dict[str, list[str]]:
    assert response.status_code == 422, response.text
    return {path: found["messages"] for path, found in response.json()["errors"].items()}


async def send(world: World) -> dict[str, Any]:
    """Send one e-mail; returns its message as it is explained."""
    await world.trigger(ADA)
    await world.work()
    newest = (await world.messages(channel="email"))[-1]
    shown: dict[str, Any] = (await world.api.get(f"/v1/messages/{newest['_id']}")).json()
    return shown


async def test_a_message_is_sent_with_the_value_that_holds_when_it_is_sent(world: World) -> None:
    await world.make_workflow(EMAIL)
    async with account(world, "first") as first, account(world, "second") as second:
        await put(world.api, "HOOK", first.server.url("/q7x"))
        for used in (first, second):
            credentials = {"from": SENDER, "secretKey": "s", "webhookUrl": "{{ env.HOOK }}"}
            path = f"{INTEGRATIONS}/{used.integration['_id']}"
            assert (await world.api.put(path, json={"credentials": credentials})).status_code == 200

        await send(world)
        await put(world.api, "HOOK", second.server.url("/q7x"))
        await send(world)

        assert (first.count, second.count) == (1, 1)


async def test_without_a_value_nothing_is_sent_and_the_variable_is_named(world: World) -> None:
    await world.make_workflow(EMAIL)
    await put(world.api, "HOOK", "https://hooks.example.com/long-path-1")
    await make(world.api, webhookUrl="{{env.HOOK}}")
    deleted = await world.api.delete(f"{VARIABLES}/HOOK")

    failed = await send(world)
    async with account(world, "other") as other:
        await send(world)
        assert other.count == 1

    assert json.loads(deleted.headers["clarion-warnings"]) == ["variableKey is used by the integration 'mine'"]
    assert failed["status"] == "error"
    assert "have no value here" in failed["errorText"]
    assert failed["errorText"].endswith("HOOK")


@pytest.mark.parametrize(
    ("credentials", "path", "message"),
    [
        ({"secretKey": "{{env.NOBODY}}"}, "secretKey", "the variable 'NOBODY', which has no value in this environment"),
        ({"secretKey": "{{env.PLAIN | upcase}}"}, "secretKey", "as {{env.KEY}}, without filters"),
        ({"secretKey": "{% if env.PLAIN %}x{% endif %}"}, "secretKey", "as {{env.KEY}}, without filters"),
        ({"secretKey": "prefix {{env.MAILKEY}}"}, "secretKey", "must be the whole value"),
        ({"secretKey": "{{env.SECRET}}"}, "secretKey", "which texts of messages can read"),
        ({"secretKey": "{{env.PLAIN}}"}, "secretKey", "which texts of messages can read"),
        ({"senderName": "{{env.MAILKEY}}"}, "senderName", "must be the whole value"),
        ({"webhookUrl": "{{env.MAILKEY}}"}, "webhookUrl", "must be the whole value"),
        ({"senderName": "{{env.SECRET}}"}, "senderName", "must be the whole value"),
        ({"webhookUrl": "{{env.PLAIN}}"}, "webhookUrl", "must be a URL"),
    ],
)
async def test_what_cannot_be_used_is_refused(api: Api, credentials: dict[str, Any], path: str, message: str) -> None:
    await put(api, "PLAIN", "plain")
    await put(api, "SECRET", "canary", isSecret=True)
    await put(api, "MAILKEY", "canary", forCredentials=True)

    answer = await post(api, **credentials)

    problems = problems_of(answer)
    assert list(problems) == [f"credentials.{path}"]
    assert message in problems[f"credentials.{path}"][0]
    assert "canary" not in answer.text


@pytest.mark.parametrize(
    ("provider", "channel", "given", "name"),
    [
        ("webex-messaging", "chat", {"clientId": "x", "secretKey": "x"}, "baseUrl"),
        ("msteams", "chat", {"clientId": "x", "secretKey": "x"}, "baseUrl"),
        ("nodemailer", "email", {"from": SENDER, "user": "x", "password": "x"}, "host"),
        ("ses", "email", {"from": SENDER, "apiKey": "x", "secretKey": "x"}, "region"),
        ("braze", "email", {"from": SENDER, "apiKey": "x", "appID": "x"}, "apiURL"),
    ],
)
async def test_no_variable_decides_where_secrets_go(
    api: Api, make_api: MakeApi, provider: str, channel: str, given: dict[str, str], name: str
) -> None:
    await put(api, "PLACE", "https://webexapis.com/v1")
    weak = await make_api(scopes=[Scope.INTEGRATIONS_WRITE, Scope.ENVIRONMENTS_WRITE])
    body = {"providerId": provider, "channel": channel}

    for value, active in (("{{env.PLACE}}", True), ("https://{{env.PLACE}}/v1", True), ("{{ env.PLACE }}", False)):
        credentials = {**given, name: value}
        answer = await weak.post(INTEGRATIONS, json={**body, "active": active, "credentials": credentials})

        assert "cannot refer to a variable" in problems_of(answer)[f"credentials.{name}"][0]


async def test_a_stored_reference_of_a_server_is_not_replaced(api: Api, database: Database, vault: Vault) -> None:
    made = await post(api)
    stored = await database.read(
        partial(
            get_integration,
            environment_id=api.environment.id,
            integration_id=IntegrationId(find_id(made.json()["_id"]) or b""),
            vault=vault,
        )
    )
    credentials = {"clientId": "x", "secretKey": "{{env.KEY}}", "baseUrl": "{{env.PLACE}}"}
    await put(api, "PLACE", "https://evil.example.com")
    await put(api, "KEY", "key", forCredentials=True)
    old = replace(stored, provider_id="webex-messaging", credentials=credentials)

    resolved = await database.read(partial(with_variables, integration=old, vault=vault))

    assert resolved.credentials == {**credentials, "secretKey": "key"}
    with pytest.raises(SendFailure, match=r"may not stand there: PLACE"):
        read_credentials(WebexCredentials, resolved.credentials)


async def test_a_secret_variable_stands_in_no_credential_that_is_shown(api: Api) -> None:
    await put(api, "MAILKEY", "canary", forCredentials=True)
    credentials = {"clientId": "{{env.MAILKEY}}", "secretKey": "s", "applicationId": "A1"}
    body = {"providerId": "slack", "channel": "chat", "active": True, "credentials": credentials}

    answer = await api.post(INTEGRATIONS, json=body)

    assert list(problems_of(answer)) == ["credentials.clientId"]
    assert "canary" not in answer.text


async def test_an_inactive_integration_may_wait_for_its_variable(api: Api) -> None:
    made = await make(api, active=False, secretKey="{{env.LATER}}")
    path = f"{INTEGRATIONS}/{made['_id']}"

    refused = await api.put(path, json={"active": True})
    primary = await api.post(f"{path}/set-primary")
    await put(api, "LATER", "value", forCredentials=True)
    activated = await api.put(path, json={"active": True})

    assert [list(problems_of(one)) for one in (refused, primary)] == [["credentials.secretKey"]] * 2
    assert activated.status_code == 200


async def test_texts_with_braces_of_their_own_stay(api: Api) -> None:
    made = await make(api, secretKey="a{{b}}c{% d %}")

    assert made["credentials"]["secretKey"] == "a{{b}}c{% d %}"


async def test_references_are_shown_and_values_are_not(world: World, make_api: MakeApi) -> None:
    await put(world.api, "SIGNING_KEY", "canary-value", forCredentials=True)
    made = await make(world.api, secretKey="{{env.SIGNING_KEY}}")
    weak = await make_api(scopes=[Scope.INTEGRATIONS_READ])

    shown = await weak.get(f"{INTEGRATIONS}/{made['_id']}")
    kept = await world.api.put(f"{INTEGRATIONS}/{made['_id']}", json={"credentials": shown.json()["credentials"]})
    audited = await world.api.get("/v1/audit")

    assert shown.json()["credentials"]["secretKey"] == "{{env.SIGNING_KEY}}"
    assert kept.json()["credentials"]["secretKey"] == "{{env.SIGNING_KEY}}"
    assert "canary-value" not in shown.text + kept.text + audited.text


async def test_a_value_that_the_provider_echoes_is_redacted(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def refuse(_: bytes, writer: Any) -> None:
        text = b'{"error": "the key canary-value is not known"}'
        writer.write(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))

    await world.make_workflow(EMAIL)
    async with web_server(refuse) as server:
        await put(world.api, "SIGNING_KEY", "canary-value", forCredentials=True)
        given = {"webhookUrl": server.url("/q7x"), "secretKey": "{{env.SIGNING_KEY}}"}
        made = await make(world.api, **given)
        tried = await world.api.post(f"{INTEGRATIONS}/{made['_id']}/test", json={"to": {"email": "ada@example.com"}})
        failed = await send(world)
    run = (await world.events())[-1]

    assert "is not known" in tried.text
    assert failed["status"] == "error"
    assert "canary-value" not in tried.text + json.dumps([failed, run]) + caplog.text


async def test_a_value_is_no_template(world: World) -> None:
    await world.make_workflow(EMAIL)
    await put(world.api, "OTHER", "canary-other")
    async with account(world, "first") as first:
        await put(world.api, "NAME", "{{env.OTHER}}\r\nBcc: eve@example.org")
        credentials = {"from": SENDER, "secretKey": "s", "webhookUrl": first.server.url("/q7x")}
        path = f"{INTEGRATIONS}/{first.integration['_id']}"
        await world.api.put(path, json={"credentials": credentials | {"senderName": "{{env.NAME}}"}})

        await send(world)

        assert "canary-other" not in json.dumps(first.bodies)


async def test_promotion_takes_references_along(site: Site, api: Api) -> None:
    production = id_text(site.production.id)
    values = [
        {"_environmentId": id_text(place.id), "value": f"https://{place.kind}.example.com/long-path-1"}
        for place in (site.development, site.production)
    ]
    await api.post(VARIABLES, json={"key": "HOOK", "values": values})
    await put(api, "HERE", "value", forCredentials=True)
    await make(api, webhookUrl="{{env.HOOK}}", secretKey="{{env.HERE}}")
    path = f"/v2/environments/{production}"

    diff = await api.post(f"{path}/diff", json={})
    published = await api.post(f"{path}/publish", json={})

    (lacking,) = diff.json()["lackingVariables"]
    assert (lacking["key"], lacking["integrationIdentifiers"]) == ("HERE", ["mine"])
    assert published.status_code == 200, published.text


async def test_usage_names_everything_that_refers_to_a_variable(world: World) -> None:
    await put(world.api, "BRAND", "Acme")
    await make(world.api, senderName="{{env.BRAND}}")
    await world.api.post("/v2/layouts", json={"name": "Plain", "layoutId": "plain"})
    body = "<html><body>{{content}} {{env.BRAND}}</body></html>"
    await world.api.put(
        "/v2/layouts/plain",
        json={"name": "Plain", "controlValues": {"email": {"body": body, "editorType": "html"}}},
    )
    await world.make_workflow(EMAIL, isTranslationEnabled=True)
    texts = {"resourceId": "welcome", "resourceType": "workflow", "locale": "en_US", "content": {"a": "{{env.BRAND}}"}}
    saved = await world.api.post("/v2/translations", json=texts)

    used = (await world.api.get(f"{VARIABLES}/BRAND/usage")).json()
    hidden = await world.api.patch(f"{VARIABLES}/BRAND", json={"isSecret": True})
    renamed = await world.api.patch(f"{VARIABLES}/BRAND", json={"key": "NAME"})
    same = await world.api.patch(f"{VARIABLES}/NAME", json={"key": "BRAND"})
    given = await world.api.patch(f"{VARIABLES}/BRAND", json={"forCredentials": True})
    deleted = await world.api.delete(f"{VARIABLES}/BRAND")

    assert saved.status_code < 300, saved.text
    assert used == {
        "workflows": [],
        "layouts": [{"name": "Plain", "layoutId": "plain"}],
        "translations": [{"resourceId": "welcome", "locale": "en_US"}],
        "integrations": [{"name": "Email Webhook", "identifier": "mine"}],
    }
    assert json.loads(hidden.headers["clarion-warnings"]) == [
        "isSecret takes the variable from the integration 'mine', where its value could be read"
    ]
    assert json.loads(renamed.headers["clarion-warnings"]) == [
        "key takes the variable from the layout 'plain', which refers to 'BRAND'",
        "key takes the variable from the translation 'welcome', which refers to 'BRAND'",
        "key takes the variable from the integration 'mine', which refers to 'BRAND'",
    ]
    assert "clarion-warnings" not in same.headers
    assert json.loads(given.headers["clarion-warnings"]) == [
        "forCredentials takes the variable from the layout 'plain', which refers to it",
        "forCredentials takes the variable from the translation 'welcome', which refers to it",
    ]
    assert len(json.loads(deleted.headers["clarion-warnings"])) == 3


async def test_a_changed_variable_resets_the_integrations_that_refer_to_it(api: Api, database: Database) -> None:
    """As a changed credential does: the account behind it may be another."""
    await put(api, "BRAND", "Acme")
    integration_id = IntegrationId(find_id((await make(api, senderName="{{env.BRAND}}"))["_id"]) or b"")
    names = {"environment_id": api.environment.id, "id": integration_id}

    async def fail(db: Connection) -> None:
        await db.execute(SET_SOURCE, **names)
        await db.execute(PUT_FAILURES, **names)

    async def change_after_failures(key: str, change: dict[str, Any]) -> tuple[Any, ...]:
        await database.transaction(fail)
        response = await api.patch(f"{VARIABLES}/{key}", json=change)
        assert response.status_code == 200, response.text
        (row,) = await database.read(lambda db: db.fetch(LIST_STATE, **names))
        return tuple(dict(row).values())

    await put(api, "OTHER", "x")
    values = [{"_environmentId": id_text(api.environment.id), "value": "Ltd"}]

    assert await change_after_failures("OTHER", {"values": values}) == ("an account", 7)
    assert await change_after_failures("BRAND", {"values": values}) == (None, 0)
    assert await change_after_failures("BRAND", {"key": "NAME"}) == (None, 0)
    assert await change_after_failures("NAME", {"key": "BRAND"}) == (None, 0)


async def test_a_key_that_may_not_write_variables_gets_none_of_them_sent_to_a_server_of_its_own(
    api: Api, make_api: MakeApi, site: Site
) -> None:
    await put(api, "KEY", "sk_live", forCredentials=True)
    integration = await make(api, secretKey="{{env.KEY}}")
    path = f"{INTEGRATIONS}/{integration['_id']}"
    lower = await make_api(site.development, scopes=[Scope.INTEGRATIONS_WRITE, Scope.INTEGRATIONS_READ])
    shown = (await lower.get(path)).json()["credentials"]

    other = {"providerId": "email-webhook", "channel": "email", "identifier": "other", "active": True}
    hook = {"from": SENDER, "webhookUrl": "https://evil.example/hook", "secretKey": "{{env.KEY}}"}
    new = await lower.post(INTEGRATIONS, json=other | {"credentials": hook})
    moved = await lower.put(path, json={"credentials": shown | {"webhookUrl": "https://evil.example/hook"}})
    renamed = await lower.put(path, json={"name": "Other"})

    for refused in (new, moved):
        assert refused.status_code == 403, refused.text
        assert refused.json()["ctx"] == {"missingScopes": ["environments:write"]}
    assert renamed.status_code == 200, renamed.text
    assert "other" not in {one["identifier"] for one in (await api.get(INTEGRATIONS)).json()}
    stored = (await api.get(path)).json()["credentials"]
    assert stored["webhookUrl"].startswith("https://hooks.example.com/")
