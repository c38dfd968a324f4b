"""What schedules ask for: their recipients in one form, and the triggers that follow from them."""

from collections.abc import Collection
from typing import Any, Final

from msgspec.structs import replace

from clarion.errors import Invalid, Problem
from clarion.http.input.unknown import InputWarning
from clarion.ids import SubscriberKey, TransactionKey
from clarion.schedules.model import TriggerSchedule
from clarion.triggers.model import AddressedPerson, ZoneTarget
from clarion.triggers.recipients import Wanted, WantedEntry, excluded_of, read_recipients
from clarion.triggers.requests import TriggerRequest
from clarion.triggers.wire import TopicRecipientIn

_EVERYONE: Final = {"type": "Everyone"}


def read_to(to: Any) -> list[Any] | None:
    """The recipients as they are stored; None for everyone. Raises Invalid with every bad entry."""
    entries = to if isinstance(to, list) else [to]
    if _EVERYONE in entries:
        if len(entries) > 1:
            raise Invalid.field("to", "names everyone and others besides; everyone is all there are")
        return None
    warnings: list[InputWarning] = []
    wanted = read_recipients(to, warnings)
    if warnings:
        raise Invalid({one.path: [Problem(one.message)] for one in warnings})
    if any(isinstance(one, AddressedPerson) and one.fields for one in wanted):
        message = "names people with fields; a schedule names them by subscriberId alone: change subscribers themselves"
        raise Invalid.field("to", message)
    return [_stored(one) for one in wanted]


def read_wanted(schedule: TriggerSchedule) -> Wanted | None:
    """Whom a schedule is for; None for everyone."""
    if schedule.is_for_everyone:
        return None
    return read_recipients(schedule.recipients, []) if schedule.recipients else []


def list_people(schedule: TriggerSchedule) -> list[SubscriberKey]:
    """The people whom a schedule names."""
    return [SubscriberKey(one) for one in schedule.recipients if isinstance(one, str)]


def make_request(schedule: TriggerSchedule, transaction: TransactionKey | None = None) -> TriggerRequest:
    """The trigger for all whom a schedule is for."""
    return TriggerRequest(
        environment_id=schedule.environment_id,
        name=schedule.workflow,
        wanted=read_wanted(schedule),
        payload=schedule.payload,
        overrides=schedule.overrides,
        transaction=transaction,
        actor=None,
        contexts=schedule.contexts,
    )


def make_request_in_zone(
    schedule: TriggerSchedule, transaction: TransactionKey, zone: str, people: Collection[SubscriberKey]
) -> TriggerRequest | None:
    """The trigger for those in one time zone, and for the named `people`, who are in it; None if it is for nobody."""
    wanted = read_wanted(schedule)
    if wanted is not None:
        wanted = [one for one in wanted if not isinstance(one, AddressedPerson) or one.key in people]
        if not wanted:
            return None
    return replace(make_request(schedule, transaction), wanted=wanted, zone=ZoneTarget(name=zone or None))


def _stored(wanted: WantedEntry) -> Any:
    if isinstance(wanted, AddressedPerson):
        return wanted.key
    excluded = excluded_of(wanted)
    target = (
        {"type": "Topic", "topicKey": wanted.topic_key}
        if isinstance(wanted, TopicRecipientIn)
        else {"type": "Segment", "segmentKey": wanted.segment_key}
    )
    return {**target, "exclude": excluded} if excluded else target
