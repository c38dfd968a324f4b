"""Connecting tenants of Microsoft Teams and linking people, against Microsoft on loopback, on both databases."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from clarion.clock import ManualClock
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings.model import Settings
from tests.providers.contract.vendor import Reply, Vendor, play
from tests.subscribers.addresses.oauth import CALLBACK, CONNECT, LINK, PUBLIC, begin, come_back, open_gateway
from tests.subscribers.addresses.support import CONNECTIONS, ENDPOINTS, TEAMS, connect, create, identifiers
from tests.subscribers.addresses.vendors import PERSON, TENANT, Microsoft, query_of
from tests.support import Api

OTHER_TENANT = "11111111-2222-3333-4444-555555555555"
GIVEN = {"tenant": TENANT, "admin_consent": "True"}
GRAPH = "https://graph.microsoft.com/v1.0"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, public_url=PUBLIC)


@pytest.fixture
def microsoft() -> Microsoft:
    return Microsoft()


@pytest.fixture
async def vendor(microsoft: Microsoft) -> AsyncIterator[Vendor]:
    async with play(microsoft.answer) as vendor:
        yield vendor


@pytest.fixture
async def gateway(clock: ManualClock, vendor: Vendor) -> AsyncIterator[ProviderGateway]:
    async with open_gateway(vendor, clock) as entered:
        yield entered


@pytest.fixture
async def teams(api: Api) -> Api:
    await create(api, "/v1/integrations", TEAMS)
    await create(api, "/v2/subscribers", {"subscriberId": "ada"})
    return api


async def consent(api: Api, **fields: Any) -> dict[str, str]:
    """An admin consents; returns the parameters of the sign-in that the browser is sent on to."""
    query = await begin(api, integrationIdentifier="teams", **fields)
    answer = await come_back(api, query["state"], **GIVEN)
    assert answer.status_code == 302, answer.text
    return query_of(answer.headers["location"])


async def sign_in(api: Api, microsoft: Microsoft, query: dict[str, str]) -> Any:
    microsoft.claims["nonce"] = query["nonce"]
    return await come_back(api, query["state"])


async def test_a_tenant_is_connected_by_consent_and_the_person_signs_in(teams: Api, microsoft: Microsoft) -> None:
    url = (
        await create(
            teams, CONNECT, {"integrationIdentifier": "teams", "subscriberId": "ada", "connectionIdentifier": "acme"}
        )
    )["url"]
    query = query_of(url)
    consented = await come_back(teams, query["state"], **GIVEN)
    following = query_of(consented.headers["location"])
    answer = await sign_in(teams, microsoft, following)

    assert url.startswith("https://login.microsoftonline.com/organizations/v2.0/adminconsent?")
    assert (query["client_id"], query["redirect_uri"]) == ("app-1", PUBLIC + CALLBACK)
    assert query["scope"] == "https://graph.microsoft.com/.default"
    assert consented.headers["location"].startswith(
        f"https://login.microsoftonline.com/{TENANT}/oauth2/v2.0/authorize?"
    )
    assert (following["response_type"], following["scope"]) == ("code", "openid profile User.Read")
    assert (answer.status_code, "window.close()" in answer.text) == (200, True), answer.text
    connection = (await teams.get(f"{CONNECTIONS}/acme")).json()
    assert (connection["workspace"], connection["subscriberId"]) == ({"id": TENANT}, "ada")
    (endpoint,) = (await teams.get(ENDPOINTS)).json()["data"]
    assert (endpoint["type"], endpoint["connectionIdentifier"]) == ("ms_teams_user", "acme")
    assert endpoint["endpoint"] == {"userId": PERSON, "tenantId": TENANT}


async def test_the_app_is_installed_for_the_person(teams: Api, microsoft: Microsoft) -> None:
    await sign_in(teams, microsoft, await consent(teams))

    (exchanged, code), (asked, app) = microsoft.forms
    (catalog, install) = microsoft.asked
    assert (exchanged, code["code"], code["client_secret"]) == (TENANT, "c-1", "teams-secret")
    assert code["redirect_uri"] == PUBLIC + CALLBACK
    assert (asked, app["scope"], app["grant_type"]) == (
        TENANT,
        "https://graph.microsoft.com/.default",
        "client_credentials",
    )
    assert "externalId%20eq%20'app-1'" in catalog[0]
    assert install[:2] == (f"{GRAPH}/users/{PERSON}/teamwork/installedApps", "Bearer app-token")
    assert json.loads(install[2]) == {"teamsApp@odata.bind": f"{GRAPH}/appCatalogs/teamsApps/catalog-1"}


@pytest.mark.parametrize(
    ("asked", "reply", "told"),
    [
        ("GET appCatalogs", Reply(status=403), "AppCatalog.Read.All"),
        ("GET appCatalogs", Reply(body='{"value": []}'), "not in the app catalog"),
        ("POST users", Reply(status=403), "TeamsAppInstallation.ReadWriteSelfForUser.All"),
        ("POST users", Reply(status=500), "Microsoft answered 500"),
    ],
)
async def test_an_app_that_cannot_be_installed_is_told_of_and_the_person_is_linked(
    teams: Api, microsoft: Microsoft, asked: str, reply: Reply, told: str
) -> None:
    microsoft.graph[asked] = reply

    answer = await sign_in(teams, microsoft, await consent(teams))

    assert (answer.status_code, told in answer.text, "window.close" in answer.text) == (200, True, False)
    assert len(await identifiers(teams, ENDPOINTS)) == 1


async def test_an_app_that_is_installed_already_is_fine(teams: Api, microsoft: Microsoft) -> None:
    microsoft.graph["POST users"] = Reply(status=409)

    assert "window.close()" in (await sign_in(teams, microsoft, await consent(teams))).text


async def test_connecting_without_linking_signs_in_and_adds_no_endpoint(teams: Api, microsoft: Microsoft) -> None:
    answer = await sign_in(teams, microsoft, await consent(teams, autoLinkUser=False))

    assert answer.status_code == 200
    assert (len(await identifiers(teams, CONNECTIONS)), await identifiers(teams, ENDPOINTS)) == (1, [])
    assert microsoft.asked == []


async def test_connecting_again_updates_the_connection_and_the_endpoint(teams: Api, microsoft: Microsoft) -> None:
    for person in (PERSON, OTHER_TENANT):
        microsoft.claims["oid"] = person
        assert (await sign_in(teams, microsoft, await consent(teams))).status_code == 200

    assert len(await identifiers(teams, CONNECTIONS)) == 1
    (endpoint,) = (await teams.get(ENDPOINTS)).json()["data"]
    assert endpoint["endpoint"]["userId"] == OTHER_TENANT


async def test_a_tenant_that_somebody_wrote_into_the_address_is_not_connected(teams: Api, microsoft: Microsoft) -> None:
    """Whoever is there signs in to the tenant, so that nobody connects that of others."""
    query = await begin(teams, integrationIdentifier="teams")
    answer = await come_back(teams, query["state"], tenant=OTHER_TENANT, admin_consent="True")

    refused = await sign_in(teams, microsoft, query_of(answer.headers["location"]))

    assert answer.headers["location"].startswith(f"https://login.microsoftonline.com/{OTHER_TENANT}/")
    assert (refused.status_code, await identifiers(teams, CONNECTIONS)) == (400, [])


@pytest.mark.parametrize(
    "answered",
    [
        {"tenant": TENANT},
        {"tenant": TENANT, "admin_consent": "False"},
        {"admin_consent": "True"},
        {"tenant": "../common", "admin_consent": "True"},
        {"error": "access_denied", "error_description": "The admin said no"},
        {"code": "c-1"},
    ],
)
async def test_without_consent_nothing_is_connected(teams: Api, microsoft: Microsoft, answered: dict[str, str]) -> None:
    query = await begin(teams, integrationIdentifier="teams")

    answer = await come_back(teams, query["state"], **answered)

    assert (answer.status_code, microsoft.forms) == (400, [])
    assert await identifiers(teams, CONNECTIONS) == []


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "another-app"},
        {"iss": "https://login.microsoftonline.com/common/v2.0"},
        {"iss": f"https://evil.example/{TENANT}/v2.0"},
        {"exp": 1_600_000_000},
        {"exp": None},
        {"nbf": 4_000_000_000},
        {"oid": None},
        {"oid": "../groups/1"},
        {"tid": OTHER_TENANT},
        {"nonce": "of-another-attempt"},
    ],
)
async def test_an_id_token_that_is_not_for_this_attempt_is_refused(
    teams: Api, microsoft: Microsoft, claims: dict[str, object]
) -> None:
    query = await consent(teams)
    microsoft.claims |= {"nonce": query["nonce"], **claims}

    answer = await come_back(teams, query["state"])

    assert answer.status_code == 400
    assert (await identifiers(teams, CONNECTIONS), await identifiers(teams, ENDPOINTS)) == ([], [])


async def test_the_consent_is_for_one_use(teams: Api, microsoft: Microsoft) -> None:
    query = await begin(teams, integrationIdentifier="teams")
    first = await come_back(teams, query["state"], **GIVEN)
    again = await come_back(teams, query["state"], **GIVEN)
    following = query_of(first.headers["location"])
    answers = [await sign_in(teams, microsoft, following) for _ in range(2)]

    assert (first.status_code, again.status_code) == (302, 400)
    assert [one.status_code for one in answers] == [200, 400]


async def test_a_person_is_linked_in_the_tenant_that_is_connected(teams: Api, microsoft: Microsoft) -> None:
    await connect(
        teams,
        integrationIdentifier="teams",
        identifier="acme",
        subscriberId="ada",
        workspace={"id": TENANT},
        auth={"accessToken": "app-only"},
    )
    wish = {"integrationIdentifier": "teams", "connectionIdentifier": "acme", "userScope": ["User.Read"]}
    query = await begin(teams, LINK, **wish)
    linked = await sign_in(teams, microsoft, query)
    asked = len(microsoft.asked)
    microsoft.claims |= {"tid": OTHER_TENANT, "iss": f"https://login.microsoftonline.com/{OTHER_TENANT}/v2.0"}
    elsewhere = await sign_in(teams, microsoft, await begin(teams, LINK, **wish))

    assert query["scope"] == "openid User.Read"
    assert (linked.status_code, elsewhere.status_code) == (200, 400)
    assert microsoft.forms[0][0] == TENANT
    # Nothing is installed in a tenant that is not connected.
    assert (asked, len(microsoft.asked)) == (2, 2)
    (endpoint,) = (await teams.get(ENDPOINTS)).json()["data"]
    assert endpoint["endpoint"] == {"userId": PERSON, "tenantId": TENANT}


async def test_an_app_without_credentials_is_said(api: Api) -> None:
    await create(api, "/v1/integrations", TEAMS | {"credentials": {}})
    await create(api, "/v2/subscribers", {"subscriberId": "ada"})

    refused = await api.post(CONNECT, json={"integrationIdentifier": "teams", "subscriberId": "ada"})

    assert refused.status_code == 422
    assert "clientId is missing; secretKey is missing" in refused.text
