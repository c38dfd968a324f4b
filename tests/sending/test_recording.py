"""Recording the results of sends: together, and one by one where some cannot be written."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection
from typing import Any

import pytest

from clarion.app import Application
from clarion.bus import Signal
from clarion.clock import MINUTE
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.result import Sent
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from tests.engine.support import World, details, in_app, step
from tests.sending.test_sender import ADA
from tests.sending.test_sends import EMAIL, integrate

UNWRITABLE = "\ud800"
"""A text that no database stores: half of a surrogate pair."""
GROUP = "Results not recorded"
ALONE = "Result not recorded"
PEOPLE = ("ada", "bo", "cy")


class Together(ProviderGateway):
    """Answers all sends at the same moment, so that they are recorded together; some with an id that is unwritable."""

    barrier = asyncio.Barrier(1)
    unwritable: Collection[str] = ()

    def __init__(self) -> None:
        super().__init__(EgressGuard())
        self.sent: Counter[str] = Counter()

    async def send(self, provider_id: str, outgoing: Outgoing) -> Sent:
        self.sent[str(outgoing.email)] += 1
        if self.sent[str(outgoing.email)] == 1:
            await self.barrier.wait()
        return Sent(provider_message_id=UNWRITABLE if outgoing.email in self.unwritable else "id")


@pytest.fixture
async def gateway() -> AsyncIterator[Together]:
    async with Together() as entered:
        yield entered


@pytest.mark.parametrize(
    ("people", "unwritable", "errors"),
    [
        (("ada",), ("ada",), [GROUP]),
        (PEOPLE, ("bo",), [GROUP, ALONE]),
        (PEOPLE, ("ada", "cy"), [GROUP, ALONE, ALONE]),
    ],
)
async def test_a_result_that_cannot_be_written_fails_its_job_alone_and_nothing_is_sent_again(
    world: World,
    gateway: Together,
    logged_errors: Callable[[], list[str]],
    *,
    people: Any,
    unwritable: Any,
    errors: Any,
) -> None:
    address = "{}@example.com".format
    gateway.barrier, gateway.unwritable = asyncio.Barrier(len(people)), [*map(address, unwritable)]
    await integrate(world, "svc-email", "email")
    await world.make_workflow(EMAIL, in_app("after"))
    for key in people:
        await world.trigger({"subscriberId": key, "email": address(key)}, transactionId=key)
    for _ in range(5):
        await world.work(after=10 * MINUTE)

    assert logged_errors() == errors
    assert gateway.sent == dict.fromkeys(map(address, people), 1)
    for key in people:
        (event,) = await world.events(transactionId=key)
        wanted = "failed" if key in unwritable else "completed"
        assert [job["status"] for job in event["jobs"]] == [wanted, "completed"]
        text = "The outcome could not be recorded" if key in unwritable else "Message sent"
        assert details(event["jobs"][0])[-1] == text
        assert await world.feed(key) == ["after"]


@pytest.mark.parametrize("following", ["in_app", "email", None])
async def test_lanes_are_woken_by_a_result_only_if_its_run_goes_on(
    world: World, application: Application, following: str | None
) -> None:
    await integrate(world, "svc-email", "email")
    rest = [step(following, subject="Hi", body="Hi")] if following else []
    await world.make_workflow(EMAIL, *rest)
    await world.trigger(ADA)
    await world.engine.work_lanes()
    announced: list[Signal] = []
    application.services.bus.listen(Signal.WORK, lambda: announced.append(Signal.WORK))

    await world.engine.sender.work()

    assert len(announced) == len(rest)
