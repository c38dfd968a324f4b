"""Stored responses of idempotency keys: they expire, are deleted in batches and sealed again."""

import base64

from clarion.clock import DAY, SECOND, ManualClock, Millis
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.http.idempotency import IdempotencyKey, find_responses, insert_responses, make_key, reseal_responses
from clarion.http.responses import Response
from clarion.settings.model import Settings
from clarion.vault import Vault
from tests.support import Api

KEY = {"Idempotency-Key": "k"}
OLD = f"old:{base64.b64encode(b'o' * 32).decode()}"
NEW = f"new:{base64.b64encode(b'n' * 32).decode()}"
BODIES = sql("SELECT body FROM idempotency_keys WHERE environment_id = :environment_id")


def make_keys(api: Api, count: int) -> list[IdempotencyKey]:
    return [
        make_key(f"k{number}", environment_id=api.environment.id, method="POST", path=b"/x", content=b"{}")
        for number in range(count)
    ]


async def store(database: Database, keys: list[IdempotencyKey], vault: Vault, now: Millis) -> None:
    responses = [(key, Response(201, key.text.encode())) for key in keys]
    await database.transaction(lambda db: insert_responses(db, responses, vault, now))


async def delete_those_of_other_tests(database: Database) -> None:
    """What is counted here is counted for all environments of the store."""
    await database.transaction(lambda db: db.execute(sql("DELETE FROM idempotency_keys")))


async def test_the_response_of_a_key_that_is_used_again_after_its_time_is_stored(api: Api, clock: ManualClock) -> None:
    await api.post("/v2/subscribers", json={"subscriberId": "ada"}, headers=KEY)
    clock.move(DAY + 2 * SECOND)
    fresh = await api.post("/v2/subscribers", json={"subscriberId": "bob"}, headers=KEY)
    again = await api.post("/v2/subscribers", json={"subscriberId": "bob"}, headers=KEY)

    assert "idempotency-replay" not in fresh.headers
    assert again.headers["idempotency-replay"] == "true"
    assert again.content == fresh.content


async def test_an_environment_may_honour_keys_for_longer(api: Api, clock: ManualClock) -> None:
    me = (await api.get("/v1/environments/me")).json()
    await api.patch(f"/v1/environments/{me['_id']}", json={"retentionDays": {"idempotency": 3}})
    await api.post("/v2/subscribers", json={"subscriberId": "ada"}, headers=KEY)
    clock.move(2 * DAY)
    replayed = await api.post("/v2/subscribers", json={"subscriberId": "ada"}, headers=KEY)
    clock.move(DAY + 2 * SECOND)
    fresh = await api.post("/v2/subscribers", json={"subscriberId": "bob"}, headers=KEY)

    assert replayed.headers["idempotency-replay"] == "true"
    assert fresh.status_code == 201
    assert "idempotency-replay" not in fresh.headers


async def test_responses_are_sealed_again_with_the_key_that_writes(
    api: Api, database: Database, clock: ManualClock
) -> None:
    await delete_those_of_other_tests(database)
    keys = make_keys(api, 600)
    await store(database, keys, Vault.parse(OLD), clock.now())
    both, new = Vault.parse(f"{NEW},{OLD}"), Vault.parse(NEW)

    assert await reseal_responses(database, both) == 600
    assert await reseal_responses(database, both) == 0

    rows = await database.read(lambda db: db.fetch(BODIES, environment_id=api.environment.id))
    assert all(bytes(row["body"]).startswith(b"new.") for row in rows)
    found = await database.transaction(lambda db: find_responses(db, keys, new, clock.now(), Settings()))
    assert {key.text: found[key.digest] for key in keys} == {
        key.text: Response(201, key.text.encode(), is_replayed=True) for key in keys
    }


async def test_nothing_is_stored_for_no_keys(database: Database, vault: Vault, clock: ManualClock) -> None:
    assert await database.transaction(lambda db: find_responses(db, [], vault, clock.now(), Settings())) == {}
