"""A person's runs start in the order of their triggers, also where another worker splits triggers meanwhile."""

from collections.abc import Sequence
from typing import cast

import pytest

from clarion.clock import Millis
from clarion.db.port import Connection, Database
from clarion.engine.recipients import expand_trigger
from clarion.engine.unit import run_unit
from clarion.ids import EnvironmentId, SubscriberKey
from clarion.jobs.lanes import LaneSet, lane_of
from clarion.triggers.actions import Accepted, accept_triggers
from clarion.triggers.model import AddressedPerson, Trigger
from clarion.triggers.requests import TriggerRequest
from clarion.triggers.store import LIST_BATCHES_BESIDE, mark_triggers_done
from tests.engine.support import Interrupted, World, in_app


async def accept(
    db: Connection, environment_id: EnvironmentId, people: Sequence[str], text: str, now: Millis
) -> Trigger:
    request = TriggerRequest(
        environment_id=environment_id,
        name="welcome",
        wanted=[AddressedPerson(key=SubscriberKey(one)) for one in people],
        payload={"name": text},
        overrides=None,
        transaction=None,
        actor=None,
    )
    (accepted,) = (await accept_triggers(db, [request], now)).outcomes
    assert isinstance(accepted, Accepted)
    assert accepted.trigger is not None
    return accepted.trigger


@pytest.mark.parametrize("first", [["ada"], ["ada", "carl"]], ids=["one lane", "not split yet"])
async def test_a_trigger_that_another_worker_splits_meanwhile_does_not_overtake_an_earlier_one(
    world: World, database: Database, first: list[str]
) -> None:
    await world.make_workflow(in_app("{{payload.name}}"))
    environment_id, now = world.api.environment.id, world.clock.now()
    lanes = LaneSet.of([lane_of(SubscriberKey("ada"))])

    async def happen(db: Connection) -> None:
        await accept(db, environment_id, first, "first", now)
        second = await accept(db, environment_id, ["ada", "bob"], "second", now)
        await expand_trigger(db, environment_id, second, now)
        await mark_triggers_done(db, environment_id, [second.id])

    async def work(db: Connection) -> None:
        interrupted = cast("Connection", Interrupted(db, {LIST_BATCHES_BESIDE: happen}))
        await run_unit(interrupted, environment_id, now, lanes=lanes, source=world.engine.source)

    await database.transaction(work)
    await world.work()

    assert await world.feed("ada") == ["first", "second"]
    assert await world.feed("bob") == ["second"]
