"""Several workers at the same time: order, digests, throttles and cancels are as with one."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clarion.app import Application
from clarion.clock import MINUTE, SECOND
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vault import Vault
from tests.engine.support import World
from tests.engine.workers import DIGEST_STEPS, LIMITED_STEPS, PEOPLE, VIEWS, Site, open_engines

ENGINES = 3
ROUNDS = 6

_places = st.sets(st.integers(0, ENGINES - 1), min_size=1).map(sorted)
_people = st.one_of(
    st.sampled_from(PEOPLE[:3]).map(lambda one: [one]),
    st.lists(st.sampled_from(PEOPLE), min_size=2, max_size=4, unique=True),
    st.just(list(PEOPLE)),
)
_triggers = st.tuples(st.just("trigger"), _people, st.booleans(), st.sampled_from([False, False, False, True]))
_cancels = st.tuples(st.just("cancel"), st.integers(0, 30))
_moves = st.one_of(
    _triggers,
    _triggers,
    _cancels,
    st.tuples(st.just("work"), _places),
    st.tuples(st.just("crash"), st.integers(0, ENGINES - 1)),
    st.tuples(st.just("race"), _places, st.lists(st.one_of(_triggers, _cancels), min_size=1, max_size=3)),
    st.tuples(st.just("wait"), st.sampled_from([SECOND, 4 * MINUTE, 10 * MINUTE, 61 * MINUTE])),
    st.tuples(st.just("see"), st.sampled_from(sorted(VIEWS))),
)


@pytest.fixture
async def engines(
    world: World, application: Application, database: Database, vault: Vault, gateway: ProviderGateway
) -> AsyncIterator[list[Engine]]:
    bus = application.services.bus
    async with open_engines(world, database, ENGINES, vault=vault, bus=bus, gateway=gateway) as opened:
        yield opened


@pytest.mark.parametrize("digest_steps", [DIGEST_STEPS, LIMITED_STEPS], ids=["plain", "limited"])
@pytest.mark.parametrize("view", sorted(VIEWS))
async def test_workers_that_see_different_members_do_not_get_in_each_others_way(
    world: World,
    database: Database,
    engines: list[Engine],
    view: str,
    digest_steps: Sequence[dict[str, Any]],
) -> None:
    site = Site(world, database, engines, "crowd")
    await site.prepare(digest_steps)
    site.see(view)

    async def trigger_all() -> None:
        for number in range(6):
            await site.trigger(PEOPLE[:5], is_digest=number % 3 > 0)
            await site.trigger([PEOPLE[number % 3]], is_digest=True)

    for _ in range(ROUNDS):
        # Windows close at the same moment at which others open or are joined.
        world.clock.move(10 * MINUTE)
        await asyncio.gather(trigger_all(), *(site.work([place] * 3) for place in range(ENGINES)))
    await site.finish()

    await site.check()


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(script=st.lists(_moves, min_size=4, max_size=20), digest_steps=st.sampled_from([DIGEST_STEPS, LIMITED_STEPS]))
async def test_whatever_several_workers_do_it_is_as_if_there_were_one(
    world: World,
    database: Database,
    engines: list[Engine],
    script: list[tuple[object, ...]],
    digest_steps: Sequence[dict[str, Any]],
) -> None:
    world.clock.move(1)
    site = Site(world, database, engines, f"w{world.clock.now()}")
    await site.prepare(digest_steps)
    for move in script:
        await make_move(site, move)
    await site.finish()

    await site.check()


async def make_move(site: Site, move: tuple[object, ...]) -> None:
    match move:
        case ("trigger", list(people), bool(is_digest), bool(fails)):
            await site.trigger(people, is_digest=is_digest, fails=fails)
        case ("cancel", int(place)) if site.sent:
            await site.cancel(site.sent[-1 - place % len(site.sent)])
        case ("work", list(places)):
            await site.work(places)
        case ("crash", int(place)):
            await site.crash(place)
        case ("race", list(places), list(moves)):
            await asyncio.gather(make_all(site, moves), *(site.work([place] * 2) for place in places))
        case ("wait", int(length)):
            site.world.clock.move(length)
        case ("see", str(view)):
            site.see(view)


async def make_all(site: Site, moves: list[tuple[object, ...]]) -> None:
    for move in moves:
        await make_move(site, move)
