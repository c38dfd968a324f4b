"""Triggers and the transaction keys that callers know them by."""

from functools import partial

from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.ids import TriggerId, new_id
from clarion.triggers.transactions import list_transaction_keys
from tests.records import NOW, make_trigger
from tests.support import Site

RENAME = sql("UPDATE triggers SET transaction_key = :key WHERE environment_id = :environment_id AND id = :id")


async def test_the_keys_of_triggers_are_read_once(database: Database, site: Site) -> None:
    environment_id = site.development.id
    first = await make_trigger(database, site.development, transaction="first")
    second = await make_trigger(database, site.development, transaction="second")
    unknown = TriggerId(new_id(NOW))

    async def rename(db: Connection) -> None:
        """Nothing in Clarion does this: it shows which of the keys are read again."""
        for one in (first, second):
            await db.execute(RENAME, environment_id=environment_id, id=one.id, key=f"changed {id(one)}")

    list_keys = partial(list_transaction_keys, environment_id=environment_id)
    known = await database.read(partial(list_keys, trigger_ids=[first.id, unknown]))
    await database.transaction(rename)
    both = await database.read(partial(list_keys, trigger_ids=[first.id, second.id, first.id]))

    assert known == {first.id: "first"}
    assert both == {first.id: "first", second.id: f"changed {id(second)}"}


async def test_another_environment_has_none_of_them(database: Database, site: Site) -> None:
    trigger = await make_trigger(database, site.development, transaction="theirs")
    found = [
        await database.read(partial(list_transaction_keys, environment_id=one.id, trigger_ids=[trigger.id]))
        for one in (site.development, site.production)
    ]

    assert found == [{trigger.id: "theirs"}, {}]
