"""A provider that refuses the account of an integration: its circuit opens, and messages go through the next one."""

from typing import Any

import pytest

from clarion.clock import MINUTE
from clarion.sending.health import FAILURES_TO_OPEN
from tests.engine.providers import EMAIL, Account, account, trigger_many
from tests.engine.support import World


async def send(world: World, count: int, *, start: int = 0) -> None:
    """Send messages one after the other, so that each sees how those before it went."""
    for number in range(start, start + count):
        await trigger_many(world, 1, start=number)
        await world.work()


async def read_circuit(world: World, one: Account) -> dict[str, Any]:
    response = await world.api.get(f"/v1/integrations/{one.integration['_id']}/health")
    assert response.status_code == 200, response.text
    circuit: dict[str, Any] = response.json()["circuit"]
    return circuit


@pytest.mark.parametrize("status", [401, 402])
async def test_a_refused_account_is_left_out_after_some_messages_and_none_is_lost(world: World, status: int) -> None:
    async with account(world, "a") as first, account(world, "b") as second:
        first.break_down(status)
        await world.make_workflow(EMAIL)

        await send(world, 2 * FAILURES_TO_OPEN)

        assert first.count == FAILURES_TO_OPEN
        assert len(second.taken) == 2 * FAILURES_TO_OPEN
        assert (await read_circuit(world, first))["state"] == "open"
        assert (await read_circuit(world, second))["state"] == "closed"


async def test_an_account_that_is_still_refused_stays_left_out_until_it_is_accepted(world: World) -> None:
    async with account(world, "a") as first, account(world, "b") as second:
        first.break_down(401)
        await world.make_workflow(EMAIL)
        await send(world, FAILURES_TO_OPEN)

        world.clock.move(MINUTE)
        await send(world, 2, start=20)
        assert first.count == FAILURES_TO_OPEN + 1
        assert len(second.taken) == FAILURES_TO_OPEN + 2
        first.come_back()
        world.clock.move(5 * MINUTE)
        await send(world, 2, start=30)

        assert len(first.taken) == 2
        assert (await read_circuit(world, first))["state"] == "closed"


async def test_refusals_of_single_messages_leave_the_circuit_closed(world: World) -> None:
    async with account(world, "a") as first, account(world, "b") as second:
        first.break_down(400)
        await world.make_workflow(EMAIL)

        await send(world, 2 * FAILURES_TO_OPEN)

        assert first.count == 2 * FAILURES_TO_OPEN
        assert len(second.taken) == 2 * FAILURES_TO_OPEN
        assert (await read_circuit(world, first))["state"] == "closed"


async def test_without_another_integration_each_message_fails_at_once_with_the_reason(world: World) -> None:
    async with account(world, "a") as first:
        first.break_down(401)
        await world.make_workflow(EMAIL)

        await send(world, FAILURES_TO_OPEN + 2)

        assert first.count == FAILURES_TO_OPEN + 2
        assert await world.statuses() == [["failed"]] * (FAILURES_TO_OPEN + 2)
        assert (await read_circuit(world, first))["state"] == "open"
