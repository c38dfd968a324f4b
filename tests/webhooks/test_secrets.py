"""The secrets of endpoints: encrypted in the database, and encrypted again when keys are rotated."""

import base64

from clarion.clock import ManualClock
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.vault import Vault, sealing_key_id
from clarion.webhooks import store
from tests.support import Api
from tests.webhooks.support import make_endpoint

URL = "https://hooks.example.com/clarion"
OLD_KEY = f"test:{base64.b64encode(bytes(range(32))).decode()}"
NEW_KEY = f"new_key:{base64.b64encode(bytes(range(32, 64))).decode()}"
READ_ROWS = sql("SELECT * FROM webhook_endpoints WHERE environment_id = :environment_id")


async def test_the_store_does_not_hold_secrets_in_clear_text(api: Api, database: Database) -> None:
    made = await make_endpoint(api, URL)

    async def read(db: Connection) -> str:
        return repr([dict(row) for row in await db.fetch(READ_ROWS, environment_id=api.environment.id)])

    assert made["secret"].removeprefix("whsec_") not in await database.read(read)


async def test_secrets_are_sealed_with_a_new_key(api: Api, database: Database, clock: ManualClock) -> None:
    made = await make_endpoint(api, URL)
    rotating, only_new = Vault.parse(f"{NEW_KEY},{OLD_KEY}"), Vault.parse(NEW_KEY)

    first = await store.reencrypt_secrets(database, rotating)
    second = await store.reencrypt_secrets(database, rotating)
    samples = await database.read(store.list_samples)
    (opened,) = await database.read(lambda db: store.list_endpoints(db, api.environment.id, only_new))
    back = await store.reencrypt_secrets(database, Vault.parse(f"{OLD_KEY},{NEW_KEY}"))

    assert first >= 1
    assert (second, back) == (0, first)
    assert [sealing_key_id(one.text) for one in samples] == ["new_key"]
    assert all(only_new.can_open(one) for one in samples)
    assert opened.secret.reveal() == made["secret"]
    assert [sealing_key_id(one.text) for one in await database.read(store.list_samples)] == ["test"]
    assert made["secret"] not in repr(opened)
