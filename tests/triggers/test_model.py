"""Whom a trigger is for, as a record."""

import re

import pytest

from clarion.clock import Millis
from clarion.ids import SubscriberKey
from clarion.jobs.lanes import lane_of
from clarion.triggers.model import AddressedPerson, Recipients, TopicTarget, TriggerState, make_transaction_key

ADA, BOB = SubscriberKey("ada"), SubscriberKey("bob")
SAYING = AddressedPerson(key=ADA, fields={"email": "ada@example.com"})
TOPIC = TopicTarget(id="1", key="news", exclude=[ADA, BOB])


@pytest.mark.parametrize(
    ("recipients", "is_for_anyone"),
    [
        (Recipients(), False),
        (Recipients(actor=SAYING), False),
        (Recipients(people=[SAYING]), True),
        (Recipients(topics=[TOPIC]), True),
        (Recipients(everyone=True), True),
    ],
)
def test_recipients_are_people_topics_or_everyone(recipients: Recipients, is_for_anyone: bool) -> None:
    assert bool(recipients) is is_for_anyone


@pytest.mark.parametrize(
    ("recipients", "has_fields"),
    [
        (Recipients(), False),
        (Recipients(people=[AddressedPerson(key=ADA)], actor=AddressedPerson(key=BOB)), False),
        (Recipients(people=[AddressedPerson(key=ADA), AddressedPerson(key=BOB)]), False),
        (Recipients(people=[SAYING]), True),
        (Recipients(people=[AddressedPerson(key=BOB), SAYING]), True),
        (Recipients(everyone=True, actor=SAYING), True),
    ],
)
def test_what_is_said_of_people_is_not_stored_with_the_trigger(recipients: Recipients, has_fields: bool) -> None:
    stored = recipients.stored

    assert recipients.has_fields is has_fields
    assert not stored.has_fields
    assert [one.key for one in stored.named] == [one.key for one in recipients.named]
    assert (stored.topics, stored.everyone) == (recipients.topics, recipients.everyone)


def test_a_person_who_is_erased_is_no_recipient_no_actor_and_not_left_out_by_name() -> None:
    people = [AddressedPerson(key=ADA), AddressedPerson(key=BOB)]
    before = Recipients(people=people, topics=[TOPIC], actor=AddressedPerson(key=ADA))

    assert before.without(ADA) == Recipients(
        people=[AddressedPerson(key=BOB)], topics=[TopicTarget(id="1", key="news", exclude=[BOB])], erased=1
    )
    assert Recipients(people=people).without(ADA).without(BOB).emptied == Recipients(erased=2)
    assert Recipients(people=people, actor=AddressedPerson(key=BOB)).without(ADA).actor == AddressedPerson(key=BOB)


def test_recipients_have_a_lane_where_all_are_named_and_in_the_same_one() -> None:
    same = next(key for number in range(999) if lane_of(key := SubscriberKey(f"p{number}")) == lane_of(ADA))
    ada, bob, neighbour = (AddressedPerson(key=one) for one in (ADA, BOB, same))

    assert Recipients(people=[ada]).find_lane() == lane_of(ADA)
    assert Recipients(people=[ada, neighbour]).find_lane() == lane_of(ADA)
    assert Recipients(people=[ada, bob]).find_lane() is None
    assert Recipients(people=[ada], topics=[TOPIC]).find_lane() is None
    assert Recipients(everyone=True).find_lane() is None
    assert Recipients().find_lane() is None


def test_a_trigger_is_canceled_from_the_moment_that_cancelling_begins() -> None:
    assert {one for one in TriggerState if one.is_canceled} == {TriggerState.CANCELING, TriggerState.CANCELED}


def test_transaction_keys_begin_with_the_moment_and_differ() -> None:
    first, second = make_transaction_key(Millis(1)), make_transaction_key(Millis(1))

    assert re.fullmatch("txn_000000000001[0-9a-f]{16}", first)
    assert first != second
