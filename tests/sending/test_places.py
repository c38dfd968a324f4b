"""Who gets the next places in flight: critical sends first, and no channel or integration more than its share."""

import asyncio
from collections import Counter
from functools import partial
from typing import Any

import msgspec
import pytest

from clarion.clock import Millis
from clarion.ids import EnvironmentId, MessageId, NotificationId
from clarion.jobs.model import Job, Priority
from clarion.sending import places
from clarion.sending.model import ClaimedSend, Route
from clarion.sending.places import (
    CRITICAL_RESERVE,
    INTEGRATION_RESERVE,
    MAX_IN_FLIGHT,
    IntegrationShares,
    Places,
    Room,
    SendQueue,
    WaitingSends,
)
from clarion.vocabulary import Channel
from tests.engine.support import World, step
from tests.sending.test_planning import make_integration
from tests.sending.test_sender import has_requests, make_chatter, running, slow_chat, until
from tests.sending.test_sends import EMAIL, integrate

CHAT = step("chat", body="Ping {{payload.n}}")
ENVIRONMENT = EnvironmentId(bytes(16))
CRITICAL = {"all": {"enabled": True, "readOnly": True}, "channels": {}}


def make_send(channel: Channel = Channel.EMAIL, environment_id: EnvironmentId = ENVIRONMENT) -> ClaimedSend:
    return ClaimedSend(
        environment_id=environment_id,
        notification_id=NotificationId(bytes(16)),
        channel=channel,
        job=Job(id=bytes(16), step=0),  # type: ignore[arg-type]
        claimed_attempt=1,
        lease_until=Millis(0),
        integrations=[],
    )


def waiting(channel: Channel, *priorities: Priority) -> WaitingSends:
    return WaitingSends(SendQueue(ENVIRONMENT, channel), list(priorities))


class Meddling(dict[MessageId, Route]):
    """The routes of a send during whose counting the event loop takes places."""

    def __init__(self, flight: Places, routes: dict[MessageId, Route]) -> None:
        super().__init__(routes)
        self._flight = flight

    def values(self) -> Any:
        self._flight.take([make_send()])
        return super().values()


def test_places_are_taken_while_another_thread_counts_them() -> None:
    flight, integration = Places(), make_integration("a")
    sends = [make_send() for _ in range(9)]
    for one in sends:
        one.planned = Meddling(flight, {MessageId(b"1" * 16): Route(integrations=[integration])})
    flight.take(sends)

    assert flight.count_by_integration(ENVIRONMENT) == {integration.id: 9}


def test_a_channel_that_is_alone_has_all_places() -> None:
    flight = Places()
    flight.take([make_send() for _ in range(MAX_IN_FLIGHT - 1)])

    (room,) = flight.find_room([waiting(Channel.EMAIL, Priority.USUAL)])

    assert room.limit == 1


def test_a_channel_that_has_taken_all_places_leaves_another_its_share() -> None:
    flight = Places()
    flight.take([make_send() for _ in range(MAX_IN_FLIGHT)])

    rooms = flight.find_room([waiting(Channel.EMAIL, Priority.USUAL), waiting(Channel.SMS, Priority.USUAL)])

    assert [one.queue.channel for one in rooms] == [Channel.SMS]
    assert rooms[0].limit > 0


def test_a_full_channel_has_a_reserve_for_critical_sends_alone() -> None:
    flight = Places()
    flight.take([make_send() for _ in range(MAX_IN_FLIGHT)])

    (room,) = flight.find_room([waiting(Channel.EMAIL, Priority.CRITICAL, Priority.USUAL)])

    assert room.priorities == [Priority.CRITICAL]
    assert room.limit == CRITICAL_RESERVE


def test_released_places_are_free_again() -> None:
    flight = Places()
    sends = [make_send() for _ in range(MAX_IN_FLIGHT)]
    flight.take(sends)
    flight.release(sends[:5])

    (room,) = flight.find_room([waiting(Channel.EMAIL, Priority.USUAL)])

    assert room.limit == 5


@pytest.mark.parametrize(
    ("priorities", "taken", "limit"),
    [
        ([Priority.USUAL], MAX_IN_FLIGHT, None),
        ([Priority.CRITICAL_FAN_OUT], MAX_IN_FLIGHT + CRITICAL_RESERVE - 1, 1),
        ([Priority.CRITICAL_FAN_OUT], MAX_IN_FLIGHT + CRITICAL_RESERVE, None),
    ],
)
def test_a_channel_whose_places_are_taken_has_no_room(
    priorities: list[Priority], taken: int, limit: int | None
) -> None:
    flight = Places()
    flight.take([make_send() for _ in range(taken)])

    rooms = flight.find_room([waiting(Channel.EMAIL, *priorities)])

    assert [one.limit for one in rooms] == ([] if limit is None else [limit])


def test_sends_are_counted_for_the_integration_that_is_tried_first_within_their_environment() -> None:
    first, second = make_integration("a"), make_integration("b")
    own, other = make_send(), make_send(environment_id=EnvironmentId(bytes([1] * 16)))
    for send in (own, other):
        send.planned[MessageId(bytes(16))] = Route(integrations=[first, second])
    flight = Places()
    flight.take([own, other])

    assert flight.count_by_integration(ENVIRONMENT) == {first.id: 1}


async def test_a_hanging_provider_does_not_keep_other_channels_from_sending(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "MAX_IN_FLIGHT", 4)
    monkeypatch.setattr(places, "MIN_SHARE", 2)
    async with slow_chat(b"/") as (chat, may_answer):
        await integrate(world, "slack", "chat", applicationId="a", clientId="c", secretKey="s")
        await integrate(world, "svc-email", "email")
        await world.make_workflow(CHAT, key="chat")
        await world.make_workflow(EMAIL, key="mail")
        await make_chatter(world, chat, "ada")
        async with running(world.engine):
            for n in range(12):
                await world.trigger("ada", name="chat", payload={"n": n})
            await until(partial(has_requests, chat, 2))
            await world.trigger({"subscriberId": "bob", "email": "bob@example.com"}, name="mail", transactionId="mail")

            async def is_sent() -> bool:
                return await world.statuses(transactionId="mail") == [["completed"]]

            await until(is_sent)
            may_answer.set()
            await until(partial(has_requests, chat, 12))


async def test_a_critical_send_goes_before_what_waits(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "MAX_IN_FLIGHT", 1)
    monkeypatch.setattr(places, "MIN_SHARE", 1)
    monkeypatch.setattr(places, "CRITICAL_RESERVE", 0)
    async with slow_chat(b"/") as (chat, may_answer):
        await integrate(world, "slack", "chat", applicationId="a", clientId="c", secretKey="s")
        await world.make_workflow(CHAT, key="usual")
        await world.make_workflow(CHAT, key="urgent", preferences={"user": CRITICAL, "workflow": CRITICAL})
        await make_chatter(world, chat, "ada")
        async with running(world.engine):
            for n in range(5):
                await world.trigger("ada", name="usual", payload={"n": n})
            await until(partial(has_requests, chat, 1))
            await world.trigger("ada", name="urgent", payload={"n": "urgent"}, transactionId="urgent")

            async def is_queued() -> bool:
                return await world.statuses(transactionId="urgent") == [["queued"]]

            await until(is_queued)
            may_answer.set()
            await until(partial(has_requests, chat, 6))

    order = [request.partition(b"Ping ")[2][:6] for request in chat.requests]
    assert order[1] == b"urgent"


async def test_one_account_of_a_channel_leaves_places_for_another(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "MAX_IN_FLIGHT", 8)
    async with slow_chat(b"/slow") as (chat, may_answer):
        for name in ("slack", "discord"):
            await integrate(world, name, "chat", **({} if name == "discord" else SLACK))
        await world.make_workflow(CHAT)
        await make_chatter(world, chat, "slow", "/slow")
        await world.api.post("/v2/subscribers", json={"subscriberId": "quick"})
        hook = {"providerId": "discord", "credentials": {"webhookUrl": chat.url("/quick")}}
        await world.api.patch("/v1/subscribers/quick/credentials", json=hook)
        async with running(world.engine):
            for n in range(12):
                await world.trigger("slow", payload={"n": n})
            await until(partial(has_requests, chat, 2))
            await world.trigger("quick", payload={"n": "quick"}, transactionId="quick")

            async def is_requested() -> bool:
                world.clock.move(1_000)
                world.engine.sender.wake()
                await asyncio.sleep(0.02)
                return any(b"/quick" in request.partition(b"\r\n")[0] for request in chat.requests)

            await until(is_requested)
            slow = Counter(b"/slow" in request.partition(b"\r\n")[0] for request in chat.requests)[True]
            assert slow <= 2
            may_answer.set()


@pytest.mark.parametrize(("count", "is_full"), [(1, False), (2, True)])
async def test_a_result_makes_the_sender_look_for_more_where_an_integration_was_full(
    world: World, monkeypatch: pytest.MonkeyPatch, count: int, is_full: bool
) -> None:
    # With two integrations in the channel, each has a quarter of the places.
    monkeypatch.setattr(places, "MAX_IN_FLIGHT", 4)
    sender = world.engine.sender
    async with slow_chat(b"/") as (chat, may_answer):
        await integrate(world, "slack", "chat", **SLACK)
        await integrate(world, "discord", "chat")
        await world.make_workflow(CHAT)
        await make_chatter(world, chat, "ada")
        for n in range(count):
            await world.trigger("ada", payload={"n": n})
        await world.engine.work_lanes()
        await sender.claim()
        sender._pipeline.wake_up.clear()
        may_answer.set()
        await sender._pipeline.finish()

        assert len(chat.requests) == 1
        assert sender._pipeline.wake_up.is_set() is is_full


SLACK = {"applicationId": "a", "clientId": "c", "secretKey": "s"}


def room_for(*priorities: Priority, limit: int = 50) -> Room:
    return Room(SendQueue(ENVIRONMENT, Channel.EMAIL), list(priorities), limit)


@pytest.mark.parametrize(
    ("left", "priorities", "expected"),
    [
        (3, [Priority.CRITICAL, Priority.USUAL], ([Priority.CRITICAL, Priority.USUAL], 3)),
        (100, [Priority.USUAL], ([Priority.USUAL], 50)),
        (0, [Priority.CRITICAL, Priority.USUAL], ([Priority.CRITICAL], INTEGRATION_RESERVE)),
        (0, [Priority.USUAL], ([Priority.USUAL], 0)),
        (-INTEGRATION_RESERVE + 1, [Priority.CRITICAL], ([Priority.CRITICAL], 1)),
        (-INTEGRATION_RESERVE, [Priority.CRITICAL], ([Priority.CRITICAL], 0)),
    ],
)
def test_a_claim_takes_what_the_integrations_of_its_channel_have_left(
    left: int, priorities: list[Priority], expected: tuple[list[Priority], int]
) -> None:
    one = make_integration("a")
    shares = IntegrationShares(Counter({one.id: MAX_IN_FLIGHT - left}), [one])

    assert shares.limit_room(room_for(*priorities)) == expected


def test_integrations_that_are_inactive_or_of_another_channel_have_no_share() -> None:
    full = make_integration("a")
    others = [
        msgspec.structs.replace(make_integration("b"), active=False),
        msgspec.structs.replace(make_integration("c"), channel=Channel.SMS),
    ]
    shares = IntegrationShares(Counter({full.id: MAX_IN_FLIGHT}), [full, *others])

    assert shares.limit_room(room_for(Priority.USUAL)) == ([Priority.USUAL], 0)


def test_without_integrations_sends_are_taken_to_fail() -> None:
    assert IntegrationShares(Counter(), []).limit_room(room_for(Priority.USUAL)) == ([Priority.USUAL], 50)


def test_an_integration_has_room_until_its_share_is_taken_and_for_critical_sends_a_reserve() -> None:
    one = make_integration("a")
    shares = IntegrationShares(Counter({one.id: MAX_IN_FLIGHT - 1}), [one])

    assert shares.has_room(one, Priority.USUAL)
    shares.take(one)
    assert not shares.has_room(one, Priority.USUAL)
    for _ in range(INTEGRATION_RESERVE):
        assert shares.has_room(one, Priority.CRITICAL)
        shares.take(one)
    assert not shares.has_room(one, Priority.CRITICAL)
