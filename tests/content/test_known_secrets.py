"""Floods of links that nobody signed: what they cost, and that they keep nobody from a link that is genuine."""

import asyncio
from typing import Any, cast

from clarion.clock import Millis
from clarion.content.known_secrets import MAX_INVALID, SECRET_AGE, LinkSecrets
from clarion.content.links import LinkPurpose, LinkSecret, read_link, sign_link
from clarion.db.port import Database, Work
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId, new_id
from clarion.vault import Vault
from tests.records import NOW
from tests.support import Api, Site

FLOOD = "192.0.2.1"


class Counted:
    """A database that counts its reads, and can be away."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.reads = 0
        self.is_away = False

    async def read(self, work: Work[Any]) -> Any:
        if self.is_away:
            raise StoreUnavailable("away")
        self.reads += 1
        return await self._database.read(work)


def known_by(database: Counted, vault: Vault) -> LinkSecrets:
    return LinkSecrets(cast("Database", database), vault)


def make_up(environment_id: EnvironmentId) -> str:
    return sign_link(LinkSecret(environment_id, b"k" * 32), LinkPurpose.CLICK, b"m" * 16)


def flood(secrets: LinkSecrets) -> None:
    for _ in range(2 * MAX_INVALID.burst):
        secrets.note_failure(FLOOD, NOW)


async def test_links_of_one_environment_ask_the_store_once(api: Api, database: Database, vault: Vault) -> None:
    counted = Counted(database)
    secrets, token = known_by(counted, vault), make_up(api.environment.id)

    found = [await secrets.find(token, FLOOD, NOW) for _ in range(20)]

    assert counted.reads == 1
    assert found[0] is not None
    assert read_link(found[0], LinkPurpose.CLICK, token) is None
    assert await secrets.find("x", FLOOD, NOW) is None


async def test_made_up_environments_of_a_flood_are_looked_up_together(
    api: Api, database: Database, vault: Vault
) -> None:
    counted = Counted(database)
    secrets = known_by(counted, vault)
    flood(secrets)
    tokens = [make_up(EnvironmentId(new_id(NOW))) for _ in range(100)]

    found = await asyncio.gather(*(secrets.find(one, FLOOD, NOW) for one in tokens))
    again = await asyncio.gather(*(secrets.find(one, FLOOD, NOW) for one in tokens))

    assert set(found + again) == {None}
    assert counted.reads <= 3


async def test_a_genuine_link_from_the_address_of_a_flood_is_found(
    api: Api, database: Database, vault: Vault, site: Site
) -> None:
    secrets = known_by(Counted(database), vault)
    flood(secrets)

    found = await secrets.find(make_up(api.environment.id), FLOOD, NOW)

    assert found is not None
    assert found.environment_id == api.environment.id


async def test_links_lead_on_without_the_store(api: Api, database: Database, vault: Vault) -> None:
    counted = Counted(database)
    secrets, token = known_by(counted, vault), make_up(api.environment.id)
    before = await secrets.find(token, FLOOD, NOW)
    counted.is_away = True

    assert await secrets.find(token, FLOOD, Millis(NOW + 2 * SECRET_AGE)) == before
