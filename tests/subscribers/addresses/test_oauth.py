"""Connecting Slack by OAuth, against a vendor on loopback, on both databases."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from clarion.clock import MINUTE, ManualClock
from clarion.db.port import Database
from clarion.ids import id_text
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings.model import Settings
from clarion.vault import Vault
from tests.providers.contract.vendor import Vendor, play
from tests.subscribers.addresses.oauth import (
    CALLBACK,
    CONFIRM,
    CONNECT,
    LINK,
    PUBLIC,
    agree,
    be_asked,
    begin,
    come_back,
    open_gateway,
)
from tests.subscribers.addresses.support import (
    CHAT,
    CONNECTIONS,
    ENDPOINTS,
    SLACK,
    connect,
    create,
    identifiers,
    make_slack,
    rows_of,
)
from tests.subscribers.addresses.vendors import Slack, query_of
from tests.support import Api


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, public_url=PUBLIC)


@pytest.fixture
def slack() -> Slack:
    return Slack()


@pytest.fixture
async def vendor(slack: Slack) -> AsyncIterator[Vendor]:
    async with play(slack.answer) as vendor:
        yield vendor


@pytest.fixture
async def gateway(clock: ManualClock, vendor: Vendor) -> AsyncIterator[ProviderGateway]:
    async with open_gateway(vendor, clock) as entered:
        yield entered


async def test_a_workspace_is_connected_and_the_person_linked(api: Api, slack: Slack) -> None:
    await make_slack(api, "ada")

    url = (
        await create(
            api, CONNECT, {"integrationIdentifier": "slack", "subscriberId": "ada", "connectionIdentifier": "acme"}
        )
    )["url"]
    query = query_of(url)
    answer = await come_back(api, query["state"])

    assert url.startswith("https://slack.com/oauth/v2/authorize?")
    assert query["client_id"] == "client-1"
    assert query["redirect_uri"] == PUBLIC + CALLBACK
    assert query["scope"] == "chat:write,chat:write.public,channels:read,groups:read,users:read,users:read.email"
    assert slack.codes == [
        {
            "client_id": ["client-1"],
            "client_secret": ["slack-secret"],
            "code": ["c-1"],
            "redirect_uri": [PUBLIC + CALLBACK],
        }
    ]
    assert (answer.status_code, "window.close()" in answer.text) == (200, True)
    connection = (await api.get(f"{CONNECTIONS}/acme")).json()
    assert connection["workspace"] == {"id": "T1", "name": "Acme", "botUserId": "UBOT"}
    assert connection["subscriberId"] == "ada"
    (endpoint,) = (await api.get(ENDPOINTS)).json()["data"]
    assert (endpoint["type"], endpoint["endpoint"]) == ("slack_user", {"userId": "U1"})
    assert endpoint["connectionIdentifier"] == "acme"


async def test_the_state_says_nothing_and_is_sealed(api: Api) -> None:
    await make_slack(api, "ada")

    state = (await begin(api))["state"]

    assert "ada" not in state
    assert len(state) < 2_000


async def test_nothing_is_stored_before_the_person_at_the_browser_agrees(api: Api, clock: ManualClock) -> None:
    """They may have been sent the address by somebody else, whose messages they would get."""
    await make_slack(api, "ada")
    await api.patch("/v2/subscribers/ada", json={"firstName": "Ada", "lastName": "<b>Lovelace"})
    state = (await begin(api))["state"]

    asked = await be_asked(api, state)
    before = await identifiers(api, CONNECTIONS)
    answers = [await agree(api, asked) for _ in range(2)]

    assert "Messages for <b>Ada &lt;b&gt;Lovelace (ada)</b> will be sent to your account in <b>Acme</b>" in asked.text
    assert "form-action 'self';" in asked.headers["content-security-policy"]
    assert "xoxb-granted" not in asked.text
    assert before == []
    assert [one.status_code for one in answers] == [200, 400]
    assert len(await identifiers(api, CONNECTIONS)) == 1

    asked = await be_asked(api, (await begin(api))["state"])
    clock.move(5 * MINUTE)
    assert (await agree(api, asked)).status_code == 400


@pytest.mark.parametrize("grant", ["", "x", "a.b", "'\"><script>"])
async def test_forged_grants_are_refused(api: Api, slack: Slack, grant: str) -> None:
    await make_slack(api, "ada")
    state = (await begin(api))["state"]

    forged = [await api.post(CONFIRM, data={"grant": text}, headers={"Authorization": ""}) for text in (grant, state)]

    assert [one.status_code for one in forged] == [400, 400]
    assert "script>" not in forged[0].text
    assert (slack.codes, await identifiers(api, CONNECTIONS)) == ([], [])


async def test_the_page_says_that_a_connection_is_shared(api: Api) -> None:
    await make_slack(api, "ada")
    shared: dict[str, Any] = {"connectionMode": "shared", "context": {"tenant": "acme"}, "subscriberId": None}

    asked = await be_asked(api, (await begin(api, **shared))["state"])

    assert "Messages for <b>everybody in tenant:acme</b> will be sent to <b>Acme</b>" in asked.text


async def test_connecting_again_updates_the_connection_and_the_endpoint(
    api: Api, slack: Slack, database: Database, vault: Vault
) -> None:
    await make_slack(api, "ada")
    for token, user in (("first", "U1"), ("second", "U2")):
        slack.grant |= {"access_token": f"xoxb-{token}", "authed_user": {"id": user}}
        answer = await come_back(api, (await begin(api))["state"])
        assert answer.status_code == 200, answer.text

    (row,) = await rows_of(database, api, "channel_connections")
    (endpoint,) = (await api.get(ENDPOINTS)).json()["data"]
    assert "xoxb-second" in vault.open(row["auth"], context=row["environment_id"] + row["id"])
    assert endpoint["endpoint"] == {"userId": "U2"}


async def test_a_state_is_for_one_use_and_five_minutes(api: Api, clock: ManualClock, slack: Slack) -> None:
    await make_slack(api, "ada")
    used, late = (await begin(api))["state"], (await begin(api))["state"]
    first = await come_back(api, used)

    again = await come_back(api, used)
    clock.move(5 * MINUTE)
    too_late = await come_back(api, late)

    assert (first.status_code, again.status_code, too_late.status_code) == (200, 400, 400)
    assert "used already" in again.text
    assert "five minutes" in too_late.text
    assert len(slack.codes) == 1


@pytest.mark.parametrize("state", ["", "x", "AAAA", "djEuLi4u", "ä", "test.AAAA", "dGVzdC5BQUFB"])
async def test_forged_states_are_refused(api: Api, slack: Slack, state: str) -> None:
    answer = await come_back(api, state)

    assert answer.status_code == 400
    assert slack.codes == []


async def test_a_state_that_was_changed_is_refused(api: Api, slack: Slack) -> None:
    await make_slack(api, "ada")
    state = (await begin(api))["state"]
    changed = state[:-6] + ("AAAAAA" if not state.endswith("AAAAAA") else "BBBBBB")

    assert (await come_back(api, changed)).status_code == 400
    assert slack.codes == []


async def test_what_the_vendor_says_never_becomes_markup(api: Api, slack: Slack) -> None:
    await make_slack(api, "ada")
    slack.grant = {"ok": False, "error": "<script>alert(1)</script>"}

    refused = await come_back(api, (await begin(api))["state"])
    denied = await come_back(api, (await begin(api))["state"], error="<img src=x>")

    assert (refused.status_code, denied.status_code) == (400, 400)
    assert "<script>alert" not in refused.text
    assert "&lt;script&gt;" in refused.text
    assert "<img" not in denied.text
    assert "default-src 'none'" in refused.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in refused.headers["content-security-policy"]
    assert await identifiers(api, CONNECTIONS) == []


async def test_the_browser_goes_on_to_the_integrations_own_address_alone(api: Api) -> None:
    credentials = SLACK["credentials"] | {"redirectUrl": "https://app.example.com/done"}
    await create(api, "/v1/integrations", SLACK | {"credentials": credentials})
    await create(api, "/v2/subscribers", {"subscriberId": "ada"})

    asked = await be_asked(api, (await begin(api))["state"])
    answer = await agree(api, asked)

    # Browsers check where the answer to a form leads to.
    assert "form-action 'self' https://app.example.com;" in asked.headers["content-security-policy"]
    assert (answer.status_code, answer.headers["location"]) == (302, "https://app.example.com/done")


@pytest.mark.parametrize("address", ["javascript:alert(1)", "//evil.example", "https:///x", "http://"])
async def test_an_address_that_is_none_of_the_web_is_not_gone_to(api: Api, address: str) -> None:
    credentials = SLACK["credentials"] | {"redirectUrl": address}
    made = await api.post("/v1/integrations", json=SLACK | {"credentials": credentials})
    if made.status_code == 422:
        return
    await create(api, "/v2/subscribers", {"subscriberId": "ada"})

    answer = await come_back(api, (await begin(api))["state"])

    assert answer.status_code == 200
    assert "location" not in answer.headers


async def test_a_shared_connection_belongs_to_the_context(api: Api) -> None:
    await make_slack(api, "ada")

    answer = await come_back(
        api, (await begin(api, connectionMode="shared", context={"tenant": "acme"}, autoLinkUser=True))["state"]
    )

    assert answer.status_code == 200, answer.text
    (connection,) = (await api.get(CONNECTIONS)).json()["data"]
    assert (connection["subscriberId"], connection["contextKeys"]) == (None, ["tenant:acme"])
    assert await identifiers(api, ENDPOINTS, subscriberId="ada") != []


async def test_a_webhook_in_the_grant_becomes_an_endpoint(api: Api, slack: Slack) -> None:
    await make_slack(api, "ada")
    slack.grant["incoming_webhook"] = {"url": "https://hooks.slack.com/services/x", "channel_id": "C1"}

    answer = await come_back(api, (await begin(api, scope=["incoming-webhook"]))["state"])

    assert answer.status_code == 200
    (endpoint,) = (await api.get(ENDPOINTS)).json()["data"]
    assert (endpoint["type"], endpoint["endpoint"]["channel"]) == ("webhook", "C1")
    assert await identifiers(api, CONNECTIONS) == []


async def test_a_person_is_linked_by_a_connection_of_the_same_workspace(api: Api, slack: Slack) -> None:
    await make_slack(api, "ada")
    unconnected = await come_back(api, (await begin(api, LINK))["state"])
    await connect(api, identifier="acme", subscriberId="ada")
    query = await begin(api, LINK, connectionIdentifier="acme")

    linked = await come_back(api, query["state"])
    slack.grant["team"] = {"id": "T2"}
    elsewhere = await come_back(api, (await begin(api, LINK))["state"])

    assert (query["user_scope"], "scope" in query) == ("identity.basic", False)
    assert (unconnected.status_code, linked.status_code, elsewhere.status_code) == (400, 200, 400)
    (endpoint,) = (await api.get(ENDPOINTS)).json()["data"]
    assert (endpoint["endpoint"], endpoint["connectionIdentifier"]) == ({"userId": "U1"}, "acme")


@pytest.mark.parametrize(
    ("path", "fields", "status", "named"),
    [
        (CONNECT, {"integrationIdentifier": "none"}, 404, None),
        (CONNECT, {"subscriberId": "bob"}, 404, None),
        (CONNECT, {"integrationIdentifier": "chat"}, 422, "integrationIdentifier"),
        (CONNECT, {"subscriberId": None}, 422, "subscriberId"),
        (CONNECT, {"connectionMode": "shared"}, 422, "context"),
        (CONNECT, {"scope": ["a b"]}, 422, "scope.0"),
        (CONNECT, {"context": {"tenant": "acme"}, "contextHash": "wrong"}, 422, "contextHash"),
        (CONNECT, {"connectionIdentifier": "bobs"}, 422, "connectionIdentifier"),
        (LINK, {"connectionIdentifier": "none"}, 404, None),
        (LINK, {"connectionIdentifier": "bobs"}, 422, "connectionIdentifier"),
        ("/v1/integrations/chat/oauth", {"mode": "link_user", "subscriberId": None}, 422, "subscriberId"),
        ("/v1/integrations/chat/oauth", {"mode": "connect", "userScope": ["x"]}, 422, "userScope"),
    ],
)
async def test_what_cannot_be_connected_is_said(
    api: Api, path: str, fields: dict[str, Any], status: int, named: str | None
) -> None:
    await make_slack(api, "ada", "grace")
    await create(api, "/v1/integrations", CHAT)
    await connect(api, identifier="bobs", subscriberId="grace")

    refused = await api.post(path, json={"integrationIdentifier": "slack", "subscriberId": "ada", **fields})

    assert refused.status_code == status, refused.text
    assert named is None or named in refused.json()["errors"]


async def test_an_app_whose_variable_has_no_value_is_asked_for_nothing(api: Api, slack: Slack) -> None:
    values = [{"_environmentId": id_text(api.environment.id), "value": "slack-secret"}]
    variable = {"key": "SLACK", "forCredentials": True, "values": values}
    await create(api, "/v1/environment-variables", variable)
    credentials = {**SLACK["credentials"], "secretKey": "{{env.SLACK}}"}
    await create(api, "/v1/integrations", SLACK | {"credentials": credentials})
    await create(api, "/v2/subscribers", {"subscriberId": "ada"})
    state = (await begin(api))["state"]
    await api.delete("/v1/environment-variables/SLACK")

    refused = await api.post(CONNECT, json={"integrationIdentifier": "slack", "subscriberId": "ada"})
    answer = await come_back(api, state)

    assert refused.status_code == 422
    assert "variables without a value" in str(refused.json()["errors"]["integrationIdentifier"])
    assert (answer.status_code, slack.codes) == (400, [])


async def test_the_deprecated_operation_does_both(api: Api) -> None:
    await make_slack(api, "ada")
    path = "/v1/integrations/chat/oauth"

    connected = await come_back(api, (await begin(api, path, mode="connect"))["state"])
    endpoints = await identifiers(api, ENDPOINTS)
    linked = await come_back(api, (await begin(api, path, mode="link_user"))["state"])

    assert (connected.status_code, linked.status_code) == (200, 200)
    assert endpoints == []
    assert len(await identifiers(api, ENDPOINTS)) == 1


async def test_a_vendor_that_does_not_answer_is_told_plainly(api: Api, vendor: Vendor) -> None:
    await make_slack(api, "ada")
    state = (await begin(api))["state"]
    vendor.answers = lambda _: None

    answer = await come_back(api, state)

    assert answer.status_code == 400
    assert "could not be asked" in answer.text


async def test_what_was_deleted_meanwhile_is_told_plainly(api: Api) -> None:
    await make_slack(api, "ada")
    state = (await begin(api))["state"]
    await api.delete("/v2/subscribers/ada")

    assert (await come_back(api, state)).status_code == 400
