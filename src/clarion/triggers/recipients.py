"""Whom a trigger is for: the forms that callers write, as one normal form."""

from collections.abc import Iterable
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
from msgspec import UnsetType

from clarion.errors import Invalid, Problem
from clarion.http.input.unknown import InputWarning, strict
from clarion.http.input.validation import convert_leniently, find_problems
from clarion.http.wire import SubscriberKeyText, Wire, changes_of, parse_checked
from clarion.ids import SubscriberKey
from clarion.jsontext import plain_value
from clarion.segments.model import MAX_SEGMENTS_PER_TRIGGER
from clarion.subscribers.model import CONTACT_FIELDS
from clarion.subscribers.wire import SubscriberIn
from clarion.triggers.model import MAX_RECIPIENTS, AddressedPerson
from clarion.triggers.wire import SegmentRecipientIn, TopicRecipientIn

T = TypeVar("T", bound=Wire)

WantedEntry = AddressedPerson | TopicRecipientIn | SegmentRecipientIn
Wanted = list[WantedEntry]
Problems = dict[str, list[Problem]]


def read_recipients(to: Any, warnings: list[InputWarning]) -> Wanted:
    """People, topics and segments of a trigger's `to`; every bad entry is named.

    Members that nothing reads are added to the warnings.
    """
    entries = to if isinstance(to, list) else [to]
    if not entries:
        raise Invalid.field("to", "must name at least one recipient")
    if len(entries) > MAX_RECIPIENTS:
        raise Invalid.field("to", f"must have at most {MAX_RECIPIENTS} entries; a topic or segment counts once")
    problems: Problems = {}
    wanted: Wanted = []
    for number, entry in enumerate(entries):
        path = f"to.{number}" if isinstance(to, list) else "to"
        recipient = _read_entry(entry, path, problems, warnings)
        if recipient is not None:
            wanted.append(recipient)
    if len(segments_of(wanted)) > MAX_SEGMENTS_PER_TRIGGER:
        problems["to"] = [
            Problem(f"must have at most {MAX_SEGMENTS_PER_TRIGGER} segments; join their conditions by or")
        ]
    if problems:
        raise Invalid(problems)
    return wanted


def read_actor(actor: Any, warnings: list[InputWarning]) -> AddressedPerson | None:
    """Who did what the trigger tells about."""
    if actor is None:
        return None
    problems: Problems = {}
    person = _read_person(actor, "actor", problems, warnings)
    if problems:
        raise Invalid(problems)
    return person


def people_of(wanted: Iterable[WantedEntry]) -> list[AddressedPerson]:
    """The people among the recipients, each once: what was said of one last, holds."""
    people = {one.key: one for one in wanted if isinstance(one, AddressedPerson)}
    return list(people.values())


def topics_of(wanted: Iterable[WantedEntry]) -> list[TopicRecipientIn]:
    return [one for one in wanted if isinstance(one, TopicRecipientIn)]


def segments_of(wanted: Iterable[WantedEntry]) -> list[SegmentRecipientIn]:
    return [one for one in wanted if isinstance(one, SegmentRecipientIn)]


def excluded_of(wanted: TopicRecipientIn | SegmentRecipientIn) -> list[SubscriberKey]:
    """Those of a topic or segment who get nothing."""
    return [] if isinstance(wanted.exclude, UnsetType) else [SubscriberKey(str(key)) for key in wanted.exclude]


def _read_entry(entry: Any, path: str, problems: Problems, warnings: list[InputWarning]) -> WantedEntry | None:
    if isinstance(entry, dict) and ("topicKey" in entry or entry.get("type") == "Topic"):
        return _convert(entry, _TOPIC, path, problems, warnings)
    if isinstance(entry, dict) and ("segmentKey" in entry or entry.get("type") == "Segment"):
        return _convert(entry, _SEGMENT, path, problems, warnings)
    return _read_person(entry, path, problems, warnings)


def _read_person(entry: Any, path: str, problems: Problems, warnings: list[InputWarning]) -> AddressedPerson | None:
    if isinstance(entry, str):
        if SubscriberKeyText.accepts(entry):
            return AddressedPerson(key=SubscriberKey(entry))
        problems[path] = [Problem(SubscriberKeyText.RULE, entry)]
        return None
    if not isinstance(entry, dict):
        problems[path] = [Problem("must be a subscriberId, a subscriber object, a topic or a segment", entry)]
        return None
    person = _convert(entry, _PERSON, path, problems, warnings)
    if person is None:
        return None
    return AddressedPerson(
        key=SubscriberKey(str(person.subscriber_id)), fields=plain_value(changes_of(person, *CONTACT_FIELDS))
    )


class _Shape(NamedTuple, Generic[T]):
    strict: type[T]
    lenient: type[T]


_PERSON = _Shape(strict(SubscriberIn), SubscriberIn)
_TOPIC = _Shape(strict(TopicRecipientIn), TopicRecipientIn)
_SEGMENT = _Shape(strict(SegmentRecipientIn), SegmentRecipientIn)


def _convert(entry: Any, shape: _Shape[T], path: str, problems: Problems, warnings: list[InputWarning]) -> T | None:
    try:
        return msgspec.convert(entry, shape.strict, dec_hook=parse_checked)
    except msgspec.ValidationError:
        pass
    # Perhaps it only has members that are unknown.
    try:
        return convert_leniently(entry, shape.lenient, path, warnings)
    except msgspec.ValidationError:
        for where, problem in find_problems(entry, shape.lenient, path):
            problems.setdefault(where, []).append(problem)
        return None
