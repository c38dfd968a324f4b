"""Channel connections through HTTP, on both databases."""

from typing import Any

import pytest

from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.subscribers.addresses.sealing import list_samples, reencrypt_addresses
from clarion.vault import Vault, sealing_key_id
from clarion.vocabulary import Scope
from tests.conftest import VAULT_KEYS
from tests.subscribers.addresses.support import (
    AUTH,
    CONNECTIONS,
    WORKSPACE,
    add_endpoint,
    connect,
    connection,
    create,
    identifiers,
    make_slack,
    rows_of,
)
from tests.support import Api, MakeApi

NEWER_KEY = f"newer:{'A' * 43}="


async def test_a_connection_is_shown_with_masked_tokens(api: Api) -> None:
    await make_slack(api, "ada")

    made = await connect(
        api,
        identifier="acme",
        subscriberId="ada",
        context={"tenant": "acme", "app": {"id": "shop"}},
        auth=AUTH | {"refreshToken": "refresh-me", "expiresAt": "2026-01-02T00:00:00Z"},
    )

    assert (await api.get(f"{CONNECTIONS}/acme")).json() == made
    assert made == {
        "identifier": "acme",
        "channel": "chat",
        "providerId": "slack",
        "integrationIdentifier": "slack",
        "subscriberId": "ada",
        "contextKeys": ["app:shop", "tenant:acme"],
        "workspace": WORKSPACE,
        "auth": {
            "accessToken": "********",
            "refreshToken": "********",
            "expiresAt": "2026-01-02T00:00:00.000Z",
        },
        "trouble": None,
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T00:00:00.000Z",
    }


async def test_tokens_are_stored_sealed(api: Api, database: Database) -> None:
    await make_slack(api, "ada")
    await connect(api, subscriberId="ada")

    (row,) = await rows_of(database, api, "channel_connections")

    assert "xoxb" not in row["auth"]


async def test_tokens_of_an_old_key_are_sealed_again(api: Api, database: Database) -> None:
    await make_slack(api, "ada")
    await connect(api, subscriberId="ada")
    await add_endpoint(api)
    newer, older = (Vault.parse(",".join(keys)) for keys in ((NEWER_KEY, VAULT_KEYS), (VAULT_KEYS, NEWER_KEY)))

    samples = await database.read(list_samples)
    await reencrypt_addresses(database, newer)

    assert {sealing_key_id(one.text) for one in samples} == {older.writing_key_id}
    assert all(older.can_open(one) for one in samples)
    (connected,) = await rows_of(database, api, "channel_connections")
    (address,) = await rows_of(database, api, "channel_endpoints")
    assert connected["auth"].startswith("v1.newer.")
    assert address["endpoint"].startswith("v1.newer.")
    assert await reencrypt_addresses(database, newer) == 0
    # The store is that of other tests, too.
    await reencrypt_addresses(database, older)


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({}, "subscriberId"),
        ({"connectionMode": "subscriber", "context": {"tenant": "acme"}}, "subscriberId"),
        ({"connectionMode": "shared", "subscriberId": "ada"}, "context"),
        ({"subscriberId": "ada", "identifier": " spaces "}, "identifier"),
        ({"subscriberId": "ada", "integrationIdentifier": "in-app"}, "integrationIdentifier"),
        ({"subscriberId": "ada", "auth": {"accessToken": ""}}, "auth.accessToken"),
        ({"subscriberId": "ada", "auth": AUTH | {"expiresAt": "tomorrow"}}, "auth.expiresAt"),
        ({"subscriberId": "ada", "context": {"tenant": "a b"}}, "context.tenant.id"),
    ],
)
async def test_what_is_wrong_with_a_connection_is_said(api: Api, fields: dict[str, Any], path: str) -> None:
    await make_slack(api, "ada")

    refused = await api.post(CONNECTIONS, json=connection(**fields))

    assert refused.status_code == 422, refused.text
    assert path in refused.json()["errors"]


async def test_unknown_integrations_and_subscribers_are_not_found(api: Api) -> None:
    await make_slack(api, "ada")

    nowhere = await api.post(CONNECTIONS, json=connection(subscriberId="ada", integrationIdentifier="none"))
    nobody = await api.post(CONNECTIONS, json=connection(subscriberId="bob"))

    assert (nowhere.status_code, nobody.status_code) == (404, 404)


async def test_contexts_that_do_not_exist_are_made_and_the_others_stay(api: Api) -> None:
    await make_slack(api, "ada")
    await create(api, "/v2/contexts", {"type": "tenant", "id": "acme", "data": {"plan": "pro"}})

    made = await api.post(
        CONNECTIONS,
        json=connection(
            context={"tenant": {"id": "acme", "data": {"plan": "no"}}, "app": {"id": "shop", "data": {"a": 1}}}
        ),
    )

    assert made.status_code == 201, made.text
    assert "context.tenant.data" in made.headers["Clarion-Warnings"]
    assert (await api.get("/v2/contexts/tenant/acme")).json()["data"] == {"plan": "pro"}
    assert (await api.get("/v2/contexts/app/shop")).json()["data"] == {"a": 1}


async def test_a_key_that_may_not_write_contexts_makes_none(api: Api, make_api: MakeApi) -> None:
    await make_slack(api, "ada")
    writer = await make_api(scopes={Scope.SUBSCRIBERS_WRITE})

    made = await writer.post(
        CONNECTIONS,
        json=connection(subscriberId="ada", context={"tenant": {"id": "acme", "data": {"a": 1}}, "app": "x"}),
    )

    assert made.json()["contextKeys"] == ["app:x", "tenant:acme"]
    assert "contexts:write" in made.headers["Clarion-Warnings"]
    assert "context.app" not in made.headers["Clarion-Warnings"]
    assert (await api.get("/v2/contexts")).json()["data"] == []


async def test_a_shared_connection_stores_no_subscriber(api: Api) -> None:
    await make_slack(api, "ada")

    made = await connect(api, subscriberId="ada", connectionMode="shared", context={"tenant": "acme"})

    assert made["subscriberId"] is None
    assert made["contextKeys"] == ["tenant:acme"]


async def test_there_is_one_connection_for_an_integration_a_person_and_a_context(api: Api) -> None:
    await make_slack(api, "ada", "bob")
    await connect(api, subscriberId="ada", identifier="first")
    shared = {"connectionMode": "shared", "context": {"tenant": "acme"}}
    await connect(api, **shared)

    again = await api.post(CONNECTIONS, json=connection(subscriberId="ada"))
    shared_again = await api.post(CONNECTIONS, json=connection(**shared))
    taken = await api.post(CONNECTIONS, json=connection(subscriberId="bob", identifier="first"))

    # The published clients repeat a 409 for an hour.
    assert (again.status_code, shared_again.status_code, taken.status_code) == (422, 422, 422)
    assert "'first'" in again.text
    assert "identifier" in taken.json()["errors"]
    await connect(api, subscriberId="bob")
    await connect(api, subscriberId="ada", context={"tenant": "acme"})


async def test_a_patch_replaces_both_and_keeps_what_is_sent_masked(
    api: Api, clock: ManualClock, database: Database, vault: Vault
) -> None:
    await make_slack(api, "ada")
    await connect(api, identifier="acme", subscriberId="ada", auth=AUTH | {"refreshToken": "refresh-me"})
    clock.move(1000)

    body = {"workspace": {"id": "T2"}, "auth": {"accessToken": "********"}}
    changed = (await api.patch(f"{CONNECTIONS}/acme", json=body)).json()
    (row,) = await rows_of(database, api, "channel_connections")

    assert vault.open(row["auth"], context=row["environment_id"] + row["id"]) == '{"accessToken":"xoxb-a-secret-token"}'
    assert changed["workspace"] == {"id": "T2"}
    assert changed["auth"] == {"accessToken": "********"}
    assert changed["updatedAt"] == "2026-01-01T00:00:01.000Z"
    assert (await api.patch(f"{CONNECTIONS}/acme", json={"auth": AUTH})).status_code == 422
    assert (await api.patch(f"{CONNECTIONS}/none", json=body)).status_code == 404


async def test_a_deleted_connection_leaves_its_endpoints_without_one(api: Api) -> None:
    await make_slack(api, "ada")
    await connect(api, identifier="acme", subscriberId="ada")
    await add_endpoint(api, identifier="general", connectionIdentifier="acme")

    deleted = await api.delete(f"{CONNECTIONS}/acme")
    left = (await api.get("/v1/channel-endpoints/general")).json()

    assert (deleted.status_code, deleted.content) == (204, b"")
    assert (await api.get(f"{CONNECTIONS}/acme")).status_code == 404
    assert left["connectionIdentifier"] is None


async def test_a_deleted_integration_takes_its_connections_and_endpoints_with_it(api: Api, database: Database) -> None:
    await make_slack(api, "ada")
    await connect(api, identifier="acme", subscriberId="ada")
    await add_endpoint(api, identifier="general")
    (slack,) = [one for one in (await api.get("/v1/integrations")).json() if one["identifier"] == "slack"]

    await api.delete(f"/v1/integrations/{slack['_id']}")

    for table in ("channel_connections", "channel_endpoints"):
        assert await rows_of(database, api, table) == []


async def test_lists_are_narrowed_by_each_filter(api: Api) -> None:
    await make_slack(api, "ada", "bob")
    await create(
        api, "/v1/integrations", {"providerId": "msteams", "channel": "chat", "identifier": "teams", "active": True}
    )
    await connect(api, identifier="adas", subscriberId="ada")
    await connect(api, identifier="bobs", subscriberId="bob", context={"tenant": "acme", "app": "shop"})
    await connect(api, identifier="shared", context={"tenant": "acme"}, integrationIdentifier="teams")

    assert await identifiers(api, CONNECTIONS) == ["shared", "bobs", "adas"]
    for filters, expected in (
        ({"subscriberId": "ada"}, ["adas"]),
        ({"subscriberId": "nobody"}, []),
        ({"connectionMode": "shared"}, ["shared"]),
        ({"connectionMode": "subscriber"}, ["bobs", "adas"]),
        ({"channel": "chat", "providerId": "msteams"}, ["shared"]),
        ({"channel": "sms"}, []),
        ({"integrationIdentifier": "slack"}, ["bobs", "adas"]),
        ({"contextKeys": ["tenant:acme", "app:shop"]}, ["bobs"]),
        ({"contextKeys": "tenant:acme"}, ["shared"]),
        ({"contextKeys": ""}, ["adas"]),
        ({"limit": 1, "orderDirection": "ASC"}, ["adas"]),
    ):
        assert await identifiers(api, CONNECTIONS, **filters) == expected, filters


async def test_changes_of_connections_are_in_the_audit_log_without_tokens(api: Api) -> None:
    await make_slack(api, "ada")
    await connect(api, identifier="acme", subscriberId="ada")
    body = {"workspace": WORKSPACE, "auth": {"accessToken": "xoxb-another-token"}}
    await api.patch(f"{CONNECTIONS}/acme", json=body)
    await api.delete(f"{CONNECTIONS}/acme")

    log = await api.get("/v1/audit-log", params={"limit": 100})
    entries = [one for one in log.json()["data"] if one["action"].startswith("channelConnection")]

    assert [one["action"].partition(".")[2] for one in entries] == ["delete", "update", "create"]
    assert entries[1]["before"] == entries[1]["after"] == {"auth": {"accessToken": "********"}}
    assert "xoxb" not in log.text
