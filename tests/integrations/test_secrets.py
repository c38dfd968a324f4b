"""Credentials: who can read them, their encryption, and the rotation of keys."""

import base64
from typing import Any

import pytest
from msgspec.structs import replace

from clarion.clock import ManualClock
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.ids import IntegrationId, find_id
from clarion.integrations import store
from clarion.vault import Vault, sealing_key_id
from clarion.vocabulary import Channel, Scope
from tests.integrations.support import PATH, SENDGRID, make_integration
from tests.support import Api, MakeApi, Site

SECRET = "SG.s3cret"
READ_ROW = sql("SELECT * FROM integrations WHERE environment_id = :environment_id AND id = :id")


async def read_row(database: Database, site: Site, made: dict[str, Any]) -> dict[str, Any]:
    """Return an integration's row as it is stored."""

    async def read(db: Connection) -> dict[str, Any]:
        row = await db.fetch_one(READ_ROW, environment_id=site.development.id, id=find_id(made["_id"]))
        assert row is not None
        return dict(row)

    return await database.read(read)


async def test_the_store_does_not_hold_credentials_in_clear_text(api: Api, database: Database, site: Site) -> None:
    made = await make_integration(api, credentials=SENDGRID)

    row = await read_row(database, site, made)

    assert SECRET not in repr(row)
    assert row["credentials"].startswith("v1.test.")


async def test_a_deleted_integration_tells_when_and_by_which_key(
    api: Api, database: Database, site: Site, clock: ManualClock
) -> None:
    made = await make_integration(api)
    clock.move(1000)
    await api.delete(f"{PATH}/{made['_id']}")

    row = await read_row(database, site, made)

    assert row["deleted_at"] == clock.now()
    assert row["deleted_by"] in await list_key_ids(database, site)
    assert not row["is_primary"]


async def list_key_ids(database: Database, site: Site) -> list[bytes]:
    query = sql("SELECT id FROM api_keys WHERE environment_id = :environment_id")

    async def read(db: Connection) -> list[bytes]:
        return [row["id"] for row in await db.fetch(query, environment_id=site.development.id)]

    return await database.read(read)


async def test_a_key_that_may_only_write_sees_no_credentials(make_api: MakeApi, api: Api) -> None:
    writer = await make_api(scopes=frozenset({Scope.INTEGRATIONS_WRITE}))

    made = await make_integration(writer)
    changed = await writer.put(f"{PATH}/{made['_id']}", json={"name": "News"})
    promoted = await writer.post(f"{PATH}/{made['_id']}/set-primary")
    left = await writer.delete(f"{PATH}/{(await make_integration(writer))['_id']}")

    returned = [made, changed.json(), promoted.json(), *left.json()]
    assert all(one["credentials"] == {} for one in returned)
    assert [one["credentials"] for one in (await api.get(PATH)).json() if one["_id"] == made["_id"]] == [SENDGRID]


async def test_each_operation_needs_its_scope(make_api: MakeApi) -> None:
    reader = await make_api(scopes=frozenset({Scope.INTEGRATIONS_READ}))
    writer = await make_api(scopes=frozenset({Scope.INTEGRATIONS_WRITE}))
    made = await make_integration(writer)
    body = {"providerId": "discord", "channel": "chat"}

    assert (await writer.get(PATH)).status_code == 403
    assert (await writer.get(f"{PATH}/active")).status_code == 403
    assert (await reader.get(PATH)).status_code == 200
    assert (await reader.post(PATH, json=body)).status_code == 403
    assert (await reader.put(f"{PATH}/{made['_id']}", json={"name": "x"})).status_code == 403
    assert (await reader.post(f"{PATH}/{made['_id']}/set-primary")).status_code == 403
    assert (await reader.delete(f"{PATH}/{made['_id']}")).status_code == 403


@pytest.mark.parametrize(
    ("body", "bad"),
    [
        ({"credentials": {"apiKey": [SECRET]}}, {"credentials.apiKey"}),
        ({"credentials": {"apiKey": {"x": SECRET}, "secure": SECRET, "tlsOptions": [SECRET]}}, None),
        ({"credentials": SECRET}, {"credentials"}),
        ({"credentials": {"from": SECRET}, "active": True}, {"credentials.apiKey", "credentials.from"}),
        ([{"credentials": {"apiKey": SECRET}}], {"body"}),
    ],
)
async def test_a_refusal_does_not_repeat_credentials(api: Api, body: Any, bad: set[str] | None) -> None:
    whole = {"providerId": "sendgrid", "channel": "email", **body} if isinstance(body, dict) else body

    answer = await api.post(PATH, json=whole)

    expected = bad or {"credentials.apiKey", "credentials.secure", "credentials.tlsOptions"}
    assert answer.status_code == 422
    assert set(answer.json()["errors"]) == expected
    assert SECRET not in answer.text


# The key of the `vault` fixture, which encrypts everything in the shared database, and one to rotate to.
OLD_KEY = f"test:{base64.b64encode(bytes(range(32))).decode()}"
NEW_KEY = f"new_key:{base64.b64encode(bytes(32)).decode()}"


OTHERS = sql("DELETE FROM integrations WHERE environment_id NOT IN (:development, :production)")


async def delete_those_of_other_tests(database: Database, site: Site) -> None:
    """All credentials of the store are sealed again, and tests of commands leave some with keys of their own."""
    ids = {"development": site.development.id, "production": site.production.id}
    await database.transaction(lambda db: db.execute(OTHERS, **ids))


async def make_sealed(database: Database, site: Site, vault: Vault, *, count: int) -> None:
    async def insert(db: Connection) -> None:
        inbox = (await store.list_integrations(db, site.development.id, vault))[0]
        for number in range(count):
            made = replace(
                inbox,
                id=IntegrationId(number.to_bytes(16)),
                identifier=f"sealed-{number}",
                credentials={"token": f"secret {number}"},
                channel=Channel.CHAT,
            )
            assert await store.insert_integration(db, made, vault)

    await database.transaction(insert)


async def test_rotation_seals_everything_with_the_new_key_and_then_finds_nothing_to_do(
    database: Database, site: Site, vault: Vault
) -> None:
    await delete_those_of_other_tests(database, site)
    await make_sealed(database, site, vault, count=230)
    rotating, only_new = Vault.parse(f"{NEW_KEY},{OLD_KEY}"), Vault.parse(NEW_KEY)

    first = await store.reencrypt_credentials(database, rotating)
    second = await store.reencrypt_credentials(database, rotating)
    samples = await database.read(store.list_samples)
    opened = await database.read(lambda db: store.list_integrations(db, site.development.id, only_new))
    back = await store.reencrypt_credentials(database, Vault.parse(f"{OLD_KEY},{NEW_KEY}"))

    assert first >= 230
    assert (second, back) == (0, first)
    assert [sealing_key_id(one.text) for one in samples] == ["new_key"]
    assert all(only_new.can_open(one) for one in samples)
    tokens = {one.credentials["token"] for one in opened if one.credentials}
    assert tokens == {f"secret {number}" for number in range(230)}
    assert [sealing_key_id(one.text) for one in await database.read(store.list_samples)] == ["test"]


MASK = "********"


async def test_a_key_that_may_read_sees_masks_instead_of_secrets(make_api: MakeApi, api: Api) -> None:
    reader = await make_api(scopes=frozenset({Scope.INTEGRATIONS_READ}))
    trusted = await make_api(scopes=frozenset({Scope.INTEGRATIONS_READ, Scope.INTEGRATIONS_SECRETS}))
    made = await make_integration(api)

    def find(listed: list[dict[str, Any]]) -> dict[str, Any]:
        return next(one["credentials"] for one in listed if one["_id"] == made["_id"])

    assert find((await reader.get(PATH)).json()) == SENDGRID | {"apiKey": MASK}
    assert find((await reader.get(f"{PATH}/active")).json()) == SENDGRID | {"apiKey": MASK}
    assert find((await trusted.get(PATH)).json()) == SENDGRID
    assert find((await api.get(PATH)).json()) == SENDGRID


async def test_a_credential_that_the_provider_does_not_know_is_masked_too(make_api: MakeApi, api: Api) -> None:
    reader = await make_api(scopes=frozenset({Scope.INTEGRATIONS_READ}))
    made = await make_integration(api, credentials=SENDGRID | {"apiToken": "left over", "host": "example.com"})

    (found,) = [one for one in (await reader.get(PATH)).json() if one["_id"] == made["_id"]]

    assert (found["credentials"]["apiToken"], found["credentials"]["host"]) == (MASK, "example.com")


async def test_a_mask_that_is_sent_back_leaves_the_secret_as_it_is(make_api: MakeApi, api: Api) -> None:
    editor = await make_api(scopes=frozenset({Scope.INTEGRATIONS_READ, Scope.INTEGRATIONS_WRITE}))
    made = await make_integration(api)

    credentials = {"apiKey": MASK, "from": "other@example.com"}
    answer = await editor.put(f"{PATH}/{made['_id']}", json={"credentials": credentials})

    assert (answer.status_code, answer.json()["credentials"]) == (200, credentials)
    (found,) = [one for one in (await api.get(PATH)).json() if one["_id"] == made["_id"]]
    assert found["credentials"] == {"apiKey": "SG.s3cret", "from": "other@example.com"}


async def test_a_secret_is_not_sent_to_another_server_by_those_who_may_not_read_it(make_api: MakeApi, api: Api) -> None:
    editor = await make_api(scopes=frozenset({Scope.INTEGRATIONS_READ, Scope.INTEGRATIONS_WRITE}))
    smtp = {"from": "news@example.com", "host": "mail.example.com", "port": "587", "user": "u", "password": "s3cret"}
    made = await make_integration(api, providerId="nodemailer", credentials=smtp)

    changed = smtp | {"host": "mail.example.org", "password": MASK}
    answer = await editor.put(f"{PATH}/{made['_id']}", json={"credentials": changed})

    assert (answer.status_code, set(answer.json()["errors"])) == (422, {"credentials.password"})
    (found,) = [one for one in (await api.get(PATH)).json() if one["_id"] == made["_id"]]
    assert found["credentials"] == smtp


async def test_a_mask_is_no_secret_of_a_new_integration(api: Api) -> None:
    body = {"providerId": "sendgrid", "channel": "email", "credentials": SENDGRID | {"apiKey": MASK}}

    answer = await api.post(PATH, json=body)

    assert (answer.status_code, set(answer.json()["errors"])) == (422, {"credentials.apiKey"})
