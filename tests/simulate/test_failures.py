"""Simulations of runs that would fail unexpectedly."""

from typing import Any

import pytest

from clarion.db.port import Database
from clarion.db.query import sql
from tests.engine.support import World, in_app
from tests.sending.test_sends import EMAIL, integrate
from tests.simulate.support import DELAY, simulate, subscribe

# Stored values that no request can bring about: the run of the person fails outside of its steps.
BREAK_SCHEDULE = sql("UPDATE subscribers SET schedule = '5' WHERE environment_id = :environment_id AND key = :key")
# This person cannot even be loaded.
BREAK_PERSON = sql("UPDATE subscribers SET data = 'not json' WHERE environment_id = :environment_id AND key = :key")


async def make_broken_person(world: World, database: Database, query: Any, key: str) -> None:
    await world.api.post("/v2/subscribers", json={"subscriberId": key, "email": f"{key}@example.com"})
    scope = {"environment_id": world.api.environment.id, "key": key}
    assert await database.transaction(lambda db: db.execute(query, **scope)) == 1


@pytest.mark.usefixtures("logged_errors")
async def test_a_run_that_would_fail_unexpectedly_is_shown_with_the_reason_and_the_others_go_on(
    world: World, database: Database
) -> None:
    await integrate(world, "svc-email", "email")
    await world.make_workflow(in_app("Before"), EMAIL, in_app("After"))
    await make_broken_person(world, database, BREAK_SCHEDULE, "bob")

    shown = await simulate(world, [{"subscriberId": "ada", "email": "ada@example.com"}, "bob"])

    ada, bob = sorted(shown["recipients"], key=lambda one: one["subscriberId"])
    assert [one["channel"] for one in ada["messages"]] == ["in_app", "email", "in_app"]
    assert (bob["messages"], shown["complete"]) == ([], True)
    failed = next(one for one in bob["decisions"] if one["verdict"] == "failed")
    assert failed["stepId"] == "inbox"
    assert failed["values"] == {"reason": "AttributeError: 'int' object has no attribute 'get'"}
    later = [one["stepId"] for one in bob["decisions"] if one["kind"] == "cancel"]
    assert later == ["email", "inbox-2"]


@pytest.mark.usefixtures("logged_errors")
async def test_a_simulated_run_that_fails_after_a_delay_keeps_what_it_did(world: World, database: Database) -> None:
    await integrate(world, "svc-email", "email")
    await world.make_workflow(in_app("Before"), DELAY, EMAIL)
    await make_broken_person(world, database, BREAK_SCHEDULE, "bob")

    shown = await simulate(world, "bob")

    (bob,) = shown["recipients"]
    assert [one["content"] for one in bob["messages"]] == ["Before"]
    failed = next(one for one in bob["decisions"] if one["verdict"] == "failed")
    # The delay is what was worked on when the run failed.
    assert (failed["at"], failed["stepId"], shown["complete"]) == ("2026-01-01T01:00:00.000Z", "delay", True)


@pytest.mark.usefixtures("logged_errors")
async def test_a_person_who_cannot_be_loaded_does_not_end_a_simulation(world: World, database: Database) -> None:
    await world.make_workflow(in_app("Hello"))
    await subscribe(world, "all", "ada", "bob")
    await make_broken_person(world, database, BREAK_PERSON, "bob")

    shown = await simulate(world, {"type": "Topic", "topicKey": "all"})

    assert [one["subscriberId"] for one in shown["recipients"]] == ["ada"]
