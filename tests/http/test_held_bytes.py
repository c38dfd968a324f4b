"""How the memory for bodies is divided among those who send them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.errors import Busy
from clarion.http.caller import ANONYMOUS, Caller, CallingMember, SubscriberSession
from clarion.http.limits import (
    LARGE_BODY,
    MAX_CALLERS_BYTES,
    MAX_STRANGERS_BYTES,
    MIB,
    SMALL_BODY,
    BodyMemory,
    HeldBody,
    SharedBytes,
)
from clarion.ids import ApiKeyId, EnvironmentId, MemberId, OrganizationId, SubscriberId
from clarion.vocabulary import Role

NOWHERE = EnvironmentId(bytes(16))


def make_key(environment: int) -> Caller:
    return Caller(EnvironmentId(bytes([environment] * 16)), OrganizationId(bytes(16)), ApiKeyId(bytes(16)), frozenset())


def make_person(number: int) -> Caller:
    session = SubscriberSession(subscriber_id=SubscriberId(number.to_bytes(16)), epoch=0)
    return Caller(NOWHERE, OrganizationId(bytes(16)), ApiKeyId(bytes(16)), frozenset(), session=session)


def make_member(number: int) -> Caller:
    member = CallingMember(
        id=MemberId(number.to_bytes(16)), email="", name="", role=Role.OWNER, is_owner=True, access={}, session=b""
    )
    return Caller(NOWHERE, OrganizationId(bytes(16)), ApiKeyId(bytes(16)), frozenset(), member=member)


def fill(open_one: Callable[[], HeldBody], size: int) -> list[HeldBody]:
    """Hold bodies of a size until one is refused."""
    held: list[HeldBody] = []
    try:
        while True:
            one = open_one()
            one.add(size)
            held.append(one)
    except Busy:
        return held


def test_one_address_takes_a_small_part_and_others_still_send() -> None:
    memory = BodyMemory()
    taken = fill(lambda: memory.open(ANONYMOUS, "192.0.2.1"), SMALL_BODY)

    assert len(taken) * SMALL_BODY <= (MAX_CALLERS_BYTES + MAX_STRANGERS_BYTES) / 16
    memory.open(ANONYMOUS, "192.0.2.2").add(SMALL_BODY)
    memory.open(make_key(1), "192.0.2.1").add(LARGE_BODY)


def test_addresses_of_one_network_count_as_one() -> None:
    memory = BodyMemory()
    taken = fill(lambda: memory.open(ANONYMOUS, "2001:db8::1"), SMALL_BODY)

    with pytest.raises(Busy):
        memory.open(ANONYMOUS, "2001:db8::2").add(SMALL_BODY)
    taken[0].release()
    memory.open(ANONYMOUS, "2001:db8::2").add(SMALL_BODY)


def test_many_addresses_leave_room_for_one_more_and_for_all_with_a_key() -> None:
    memory = BodyMemory()
    for number in range(200):
        fill(partial(memory.open, ANONYMOUS, f"192.0.2.{number}"), SMALL_BODY // 16)

    memory.open(ANONYMOUS, "198.51.100.1").add(16 * 1024)
    memory.open(make_key(1), "192.0.2.1").add(LARGE_BODY)


def test_people_of_inboxes_are_bounded_by_address_and_by_person() -> None:
    memory = BodyMemory()
    numbers = iter(range(10_000))
    fill(lambda: memory.open(make_person(next(numbers)), "192.0.2.1"), SMALL_BODY)
    by_person = BodyMemory()
    addresses = iter(range(10_000))
    taken = fill(lambda: by_person.open(make_person(1), f"10.0.0.{next(addresses)}"), SMALL_BODY)

    memory.open(make_person(20_000), "192.0.2.2").add(SMALL_BODY)
    assert len(taken) * SMALL_BODY <= MAX_STRANGERS_BYTES / 2
    by_person.open(make_person(2), "192.0.2.2").add(SMALL_BODY)


def test_an_environment_and_a_member_leave_room_for_large_bodies_of_others() -> None:
    memory = BodyMemory()
    fill(lambda: memory.open(make_key(1), "192.0.2.1"), MIB)
    fill(lambda: memory.open(make_member(1), "192.0.2.1"), MIB)

    memory.open(make_key(2), "192.0.2.1").add(LARGE_BODY)


def test_what_is_released_can_be_held_again() -> None:
    shared = SharedBytes(100)
    body = HeldBody(shared, ("a",))
    body.add(30)
    body.add(20)
    with pytest.raises(Busy, match="try again"):
        HeldBody(shared, ("a",)).add(1)

    body.release()
    body.release()
    HeldBody(shared, ("a",)).add(50)

    assert shared.count == 50


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 60)), max_size=80))
def test_nobody_holds_more_than_half_and_a_newcomer_may_have_half_of_the_rest(requests: list[Any]) -> None:
    shared = SharedBytes(100)
    held: dict[int, int] = {}
    for holder, size in requests:
        try:
            shared.add((holder,), size)
        except Busy:
            continue
        held[holder] = held.get(holder, 0) + size

    largest = max(held.values(), default=0)
    assert shared.count == sum(held.values())
    assert largest <= 50
    newcomer = (100 - shared.count) // 2
    shared.add(("newcomer",), newcomer)
    for holder, size in held.items():
        shared.release((holder,), size)
    shared.release(("newcomer",), newcomer)
    assert (shared.count, shared._held) == (0, {})
