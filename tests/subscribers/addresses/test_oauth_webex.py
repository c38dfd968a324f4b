"""Connecting Webex and linking people, against Webex on loopback, on both databases."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from clarion.clock import DAY, ManualClock, Millis, iso_text
from clarion.db.port import Database
from clarion.jsontext import json_value
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings.model import Settings
from clarion.vault import Vault
from tests.providers.contract.vendor import Vendor, play
from tests.subscribers.addresses.oauth import CALLBACK, CONNECT, LINK, PUBLIC, begin, come_back, open_gateway
from tests.subscribers.addresses.support import (
    CONNECTIONS,
    ENDPOINTS,
    WEBEX,
    connect,
    create,
    identifiers,
    rows_of,
)
from tests.subscribers.addresses.vendors import Webex, query_of
from tests.support import Api


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, public_url=PUBLIC)


@pytest.fixture
def webex() -> Webex:
    return Webex()


@pytest.fixture
async def vendor(webex: Webex) -> AsyncIterator[Vendor]:
    async with play(webex.answer) as vendor:
        yield vendor


@pytest.fixture
async def gateway(clock: ManualClock, vendor: Vendor) -> AsyncIterator[ProviderGateway]:
    async with open_gateway(vendor, clock) as entered:
        yield entered


@pytest.fixture
async def connected(api: Api) -> Api:
    await create(api, "/v1/integrations", WEBEX)
    await create(api, "/v2/subscribers", {"subscriberId": "ada"})
    return api


async def test_an_organisation_is_connected_with_both_tokens_and_their_ends(
    connected: Api, webex: Webex, database: Database, vault: Vault, clock: ManualClock
) -> None:
    url = (
        await create(
            connected,
            CONNECT,
            {"integrationIdentifier": "webex", "subscriberId": "ada", "connectionIdentifier": "acme"},
        )
    )["url"]
    query = query_of(url)
    answer = await come_back(connected, query["state"])

    assert url.startswith("https://webexapis.com/v1/authorize?")
    assert query["response_type"] == "code"
    assert query["scope"].split() == [
        *("spark:messages_write", "spark:rooms_read", "spark:people_read", "spark:memberships_read", "spark:kms"),
    ]
    assert webex.forms == [
        {
            "grant_type": "authorization_code",
            "client_id": "client-1",
            "client_secret": "webex-secret",
            "code": "c-1",
            "redirect_uri": PUBLIC + CALLBACK,
        }
    ]
    assert answer.status_code == 200, answer.text
    connection = (await connected.get(f"{CONNECTIONS}/acme")).json()
    assert connection["workspace"] == {"id": "org-1", "name": "Ada"}
    assert set(connection["auth"].values()) >= {"********"}
    assert "webex-access" not in str(connection)
    (row,) = await rows_of(database, connected, "channel_connections")
    assert json_value(vault.open(row["auth"], context=row["environment_id"] + row["id"])) == {
        "accessToken": "webex-access",
        "refreshToken": "webex-refresh",
        "expiresAt": iso_text(Millis(clock.now() + 14 * DAY)),
        "refreshTokenExpiresAt": iso_text(Millis(clock.now() + 90 * DAY)),
    }
    (endpoint,) = (await connected.get(ENDPOINTS)).json()["data"]
    assert (endpoint["type"], endpoint["endpoint"]) == ("webex_person", {"personId": "person-1"})


async def test_a_person_is_linked_in_the_organisation_that_is_connected(connected: Api, webex: Webex) -> None:
    await connect(
        connected,
        integrationIdentifier="webex",
        identifier="acme",
        subscriberId="ada",
        workspace={"id": "org-1"},
        auth={"accessToken": "kept"},
    )
    wish = {"integrationIdentifier": "webex", "connectionIdentifier": "acme"}
    query = await begin(connected, LINK, **wish)
    linked = await come_back(connected, query["state"])
    webex.person["orgId"] = "org-2"
    elsewhere = await come_back(connected, (await begin(connected, LINK, **wish))["state"])

    assert query["scope"] == "spark:people_read"
    assert (linked.status_code, elsewhere.status_code) == (200, 400)
    (endpoint,) = (await connected.get(ENDPOINTS)).json()["data"]
    assert (endpoint["endpoint"], endpoint["connectionIdentifier"]) == ({"personId": "person-1"}, "acme")


async def test_what_webex_refuses_is_told_without_its_tokens(connected: Api, webex: Webex) -> None:
    webex.grant = {"message": "The code <b>c-1</b> is invalid"}
    webex.status = 400
    refused = await come_back(connected, (await begin(connected, integrationIdentifier="webex"))["state"])
    webex.status, webex.grant = 200, {"token": "under-another-name"}
    strange = await come_back(connected, (await begin(connected, integrationIdentifier="webex"))["state"])

    assert (refused.status_code, strange.status_code) == (400, 400)
    assert "&lt;b&gt;c-1" in refused.text
    assert "under-another-name" not in strange.text
    assert await identifiers(connected, CONNECTIONS) == []


@pytest.mark.parametrize(
    "address", ["https://evil.example/v1", "http://webexapis.com/v1", "https://webexapis.com@evil.example"]
)
async def test_tokens_go_to_webex_alone(api: Api, address: str) -> None:
    credentials = WEBEX["credentials"] | {"baseUrl": address}
    refused = await api.post("/v1/integrations", json=WEBEX | {"credentials": credentials})
    await create(api, "/v1/integrations", WEBEX | {"credentials": credentials, "active": False})
    await create(api, "/v2/subscribers", {"subscriberId": "ada"})

    begun = await api.post(CONNECT, json={"integrationIdentifier": "webex", "subscriberId": "ada"})

    assert (refused.status_code, begun.status_code) == (422, 422)
    assert "baseUrl" in begun.text
