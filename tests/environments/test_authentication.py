"""Looking up API keys: unknown ones must not load the store, and never keep valid ones out."""

import asyncio
from typing import Any

import pytest

from clarion.bus import Bus, Signal
from clarion.clock import ManualClock, Millis
from clarion.db.port import Connection, Database, Work
from clarion.environments import actions, store
from clarion.environments.authentication import CACHED_FOR, Authenticator, make_key_lookup
from clarion.environments.model import hash_key
from clarion.errors import RateLimited, Unauthenticated
from clarion.http.attempts import MAX_WAITING
from clarion.http.caller import Caller
from clarion.ids import EnvironmentId
from clarion.vault import Vault
from tests.support import Api, Site


class SlowReads:
    """A database whose reads wait until they are let through, before they read or after it."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.count = 0
        self.gate = asyncio.Event()
        self.has_read = asyncio.Event()
        self.exit = asyncio.Event()
        self.exit.set()

    async def read(self, work: Work[Any]) -> Any:
        self.count += 1
        await self.gate.wait()
        found = await self.database.read(work)
        self.has_read.set()
        await self.exit.wait()
        return found


@pytest.fixture
def slow(database: Database) -> Any:
    return SlowReads(database)


async def refuse(authenticator: Authenticator, key: str, *, is_suspect: bool = False) -> None:
    with pytest.raises(Unauthenticated):
        await authenticator(f"ApiKey {key}", is_suspect=is_suspect)


async def test_unknown_keys_that_come_at_the_same_time_are_looked_up_together(
    slow: Any, clock: ManualClock, api: Api
) -> None:
    authenticator = Authenticator(slow, clock, Bus())
    guesses = [asyncio.create_task(refuse(authenticator, f"guess-{number}")) for number in range(100)]
    good = asyncio.create_task(authenticator(f"ApiKey {api.key}"))
    await asyncio.sleep(0)

    slow.gate.set()
    caller: Caller = await good
    await asyncio.gather(*guesses)

    assert caller.environment_id == api.environment.id
    assert slow.count <= 2


async def test_an_unknown_key_is_looked_up_again_after_two_seconds(
    slow: Any, database: Database, vault: Vault, clock: ManualClock, site: Site
) -> None:
    slow.gate.set()
    authenticator = Authenticator(slow, clock, Bus())
    for _ in range(10):
        await refuse(authenticator, "a-key-to-come-later")
    lookups = slow.count
    request = actions.KeyRequest(name="later", text="a-key-to-come-later")
    await database.transaction(
        lambda db: actions.create_api_key(db, site.development.id, request, vault=vault, now=clock.now())
    )

    await refuse(authenticator, "a-key-to-come-later")
    clock.move(CACHED_FOR)
    caller = await authenticator("ApiKey a-key-to-come-later")

    assert lookups == 1
    assert caller.environment_id == site.development.id


async def test_unknown_keys_are_looked_up_again_when_a_key_is_made_here(slow: Any, clock: ManualClock) -> None:
    slow.gate.set()
    bus = Bus()
    authenticator = Authenticator(slow, clock, bus)
    await refuse(authenticator, "an-unknown-key")

    bus.publish(Signal.API_KEY_CHANGED)
    await refuse(authenticator, "an-unknown-key")

    assert slow.count == 2


async def test_a_valid_key_is_accepted_from_an_address_that_failed_too_often(
    database: Database, clock: ManualClock, api: Api
) -> None:
    authenticator = Authenticator(database, clock, Bus())

    new = await authenticator(f"ApiKey {api.key}", is_suspect=True)
    clock.move(CACHED_FOR)
    known = await authenticator(f"ApiKey {api.key}", is_suspect=True)

    assert new.environment_id == known.environment_id == api.environment.id


async def test_a_burst_with_one_key_waits_together_however_large_it_is(slow: Any, clock: ManualClock, api: Api) -> None:
    authenticator = Authenticator(slow, clock, Bus())
    burst = [asyncio.create_task(authenticator(f"ApiKey {api.key}")) for _ in range(2 * MAX_WAITING)]
    await asyncio.sleep(0)
    burst[0].cancel()

    slow.gate.set()
    callers = await asyncio.gather(*burst[1:])

    assert {one.environment_id for one in callers} == {api.environment.id}
    assert slow.count == 1


async def test_a_bounded_number_of_keys_waits_for_a_slow_lookup(slow: Any) -> None:
    lookup = make_key_lookup(slow)
    waiting = [asyncio.create_task(lookup.find(hash_key(str(number)))) for number in range(MAX_WAITING)]
    await asyncio.sleep(0)

    with pytest.raises(RateLimited) as refused:
        await lookup.find(hash_key("one more"))

    slow.gate.set()
    assert set(await asyncio.gather(*waiting)) == {None}
    assert refused.value.retry_after == 1
    assert await lookup.find(hash_key("later")) is None


async def revoke_all(db: Connection, environment_id: EnvironmentId, now: Millis) -> None:
    for key in await store.list_api_keys(db, environment_id):
        await store.revoke_api_key(db, environment_id, key.id, now)


async def change_during_lookup(slow: Any, bus: Bus, lookup: asyncio.Task[Any], change: Work[Any]) -> None:
    """Change a key when the look-up has read the store, and before it uses what it read."""
    slow.gate.set()
    await slow.has_read.wait()
    await slow.database.transaction(change)
    bus.publish(Signal.API_KEY_CHANGED)
    slow.exit.set()
    await asyncio.gather(lookup, return_exceptions=True)


async def test_a_key_that_is_revoked_during_its_lookup_is_refused_at_once_afterwards(
    slow: Any, clock: ManualClock, api: Api
) -> None:
    bus = Bus()
    authenticator = Authenticator(slow, clock, bus)
    slow.exit.clear()
    lookup = asyncio.create_task(authenticator(f"ApiKey {api.key}"))

    await change_during_lookup(slow, bus, lookup, lambda db: revoke_all(db, api.environment.id, clock.now()))

    assert lookup.result().environment_id == api.environment.id
    await refuse(authenticator, api.key)


async def test_a_key_that_is_made_during_its_lookup_works_at_once_afterwards(
    slow: Any, vault: Vault, clock: ManualClock, site: Site
) -> None:
    bus = Bus()
    authenticator = Authenticator(slow, clock, bus)
    slow.exit.clear()
    lookup = asyncio.create_task(authenticator("ApiKey a-key-to-come"))
    request = actions.KeyRequest(name="new", text="a-key-to-come")

    await change_during_lookup(
        slow,
        bus,
        lookup,
        lambda db: actions.create_api_key(db, site.development.id, request, vault=vault, now=clock.now()),
    )

    assert isinstance(lookup.exception(), Unauthenticated)
    assert (await authenticator("ApiKey a-key-to-come")).environment_id == site.development.id
