"""Triggers as records: whom a workflow is to be run for, and with what."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import DAY, Millis
from clarion.contexts.model import Contexts, names_of, stored_contexts
from clarion.ids import (
    EnvironmentId,
    NotificationId,
    SubscriberId,
    SubscriberKey,
    TransactionKey,
    TriggerId,
    WorkflowId,
    WorkflowVersionId,
    random_bytes,
)
from clarion.jobs.lanes import lane_of
from clarion.jobs.model import Priority
from clarion.monitoring.traces.model import TraceContext
from clarion.providers.registry import find_provider
from clarion.subscribers.model import Subscriber
from clarion.vocabulary import Channel, StepType
from clarion.workflows.model import Step

MAX_RECIPIENTS = 100
MAX_EVENTS = 100
MAX_PAYLOAD_BYTES = 256 * 1024
MAX_SEND_AHEAD = Millis(366 * DAY)
"""How far ahead `sendAt` may be: a year."""


class TriggerOutcome(StrEnum):
    PROCESSED = "processed"
    NOT_ACTIVE = "trigger_not_active"
    NO_STEPS = "no_workflow_steps_defined"
    NO_ACTIVE_STEPS = "no_workflow_active_steps_defined"
    ERROR = "error"
    """Only in the result of a bulk trigger: this one was refused."""


class TriggerState(StrEnum):
    SCHEDULED = "scheduled"
    """Accepted for a later moment, `sendAt`, which is its `created_at`."""
    QUEUED = "queued"
    """For people of one lane, who have no runs yet."""
    EXPANDING = "splitting"
    """For people of several lanes, who are not all in batches yet."""
    DONE = "done"
    """Each recipient has a run or is in a batch."""
    CANCELING = "canceling"
    """Canceled; some of its jobs are not marked so yet."""
    CANCELED = "canceled"
    REFUSED = "refused"
    """Not begun at its moment, because its workflow was gone, inactive or without active steps."""
    FAILED = "failed"

    @property
    def is_canceled(self) -> bool:
        return self in (TriggerState.CANCELED, TriggerState.CANCELING)


class AddressedPerson(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A recipient by key; `fields` are what the caller says of the subscriber."""

    key: SubscriberKey
    fields: dict[str, Any] = {}


class TopicTarget(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All members of a topic but some."""

    id: str
    key: str
    exclude: list[SubscriberKey] = []


class SegmentTarget(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All people of a segment but some."""

    key: str
    condition: Any
    """That of the segment when the trigger was accepted: later changes of the segment change nothing."""
    exclude: list[SubscriberKey] = []


class ZoneTarget(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """People in one time zone."""

    name: str | None = None
    """As the people have it; None: those who have none."""

    def includes(self, subscriber: Subscriber) -> bool:
        return subscriber.timezone == self.name


class Recipients(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whom a trigger is for, as it is kept: people first, then topics in turn, then segments, or everyone there is."""

    people: list[AddressedPerson] = []
    topics: list[TopicTarget] = []
    segments: list[SegmentTarget] = []
    everyone: bool = False
    zone: ZoneTarget | None = None
    """Topics, segments and everyone stand for their people in this time zone alone."""
    actor: AddressedPerson | None = None
    keeps_fields: bool = False
    """Whether what is said of people holds for this trigger alone, because the caller may not write subscribers.

    It is then kept here. Else it is written to the subscribers when the trigger is accepted.
    """
    missing_topics: list[str] = []
    """The keys of topics that did not exist when the trigger was accepted."""
    erased: int = 0
    """How many people it named who were erased since."""

    @property
    def named(self) -> list[AddressedPerson]:
        """Everyone whom the caller names."""
        return self.people if self.actor is None else [*self.people, self.actor]

    @property
    def has_fields(self) -> bool:
        """Whether the caller says anything of the people."""
        if self.actor is not None and self.actor.fields:
            return True
        return any(one.fields for one in self.people) if len(self.people) != 1 else bool(self.people[0].fields)

    @property
    def stored(self) -> "Recipients":
        """As they are kept: what was written to the subscribers is not repeated here."""
        if self.keeps_fields or not self.has_fields:
            return self
        people = [AddressedPerson(key=one.key) for one in self.people]
        actor = None if self.actor is None else AddressedPerson(key=self.actor.key)
        return replace(self, people=people, actor=actor)

    def __bool__(self) -> bool:
        """Whether they are for anyone."""
        return bool(self.people or self.is_fan_out)

    @property
    def is_fan_out(self) -> bool:
        """Whether they are for people whom nobody names."""
        return bool(self.topics or self.segments or self.everyone)

    @property
    def has_several_ways(self) -> bool:
        """Whether it may come to a person in more than one way; segments are searched together."""
        return bool(self.people) + len(self.topics) + bool(self.segments) + self.everyone > 1

    def without(self, key: SubscriberKey) -> "Recipients":
        """Them without one person, also as the actor and among those whom topics and segments leave out."""
        return replace(
            self,
            people=[one for one in self.people if one.key != key],
            topics=[replace(one, exclude=[other for other in one.exclude if other != key]) for one in self.topics],
            segments=[replace(one, exclude=[other for other in one.exclude if other != key]) for one in self.segments],
            actor=None if self.actor is None or self.actor.key == key else self.actor,
            erased=self.erased + any(one.key == key for one in self.people),
        )

    def overlay(self, subscriber: Subscriber) -> Subscriber:
        """The person as this trigger sees them: with what is kept here of them."""
        if not self.keeps_fields:
            return subscriber
        return replace(subscriber, **self.kept_fields(subscriber.key))

    def kept_fields(self, key: SubscriberKey) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for person in self.named:
            if self.keeps_fields and person.key == key:
                fields |= person.fields
        return fields

    @property
    def emptied(self) -> "Recipients":
        """What is kept of them when nobody is left."""
        return Recipients(missing_topics=self.missing_topics, erased=self.erased)

    def find_lane(self) -> int | None:
        """The lane of all recipients, where they are named and in one lane."""
        if self.is_fan_out:
            return None
        if len(self.people) == 1:
            return lane_of(self.people[0].key)
        lanes = {lane_of(one.key) for one in self.people}
        return lanes.pop() if len(lanes) == 1 else None

    @property
    def first_state(self) -> TriggerState:
        """The state in which a trigger for them begins."""
        return TriggerState.EXPANDING if self.find_lane() is None else TriggerState.QUEUED


_ID_BYTES = 16


class RecipientBatch(Struct, frozen=True, kw_only=True):
    """Recipients of a trigger in one lane."""

    id: bytes
    trigger_id: TriggerId
    priority: Priority
    lane: int
    topic: int | None
    """Which of the trigger's topics they are members of."""
    packed_ids: bytes
    """The ids of the people, 16 bytes each; unpacked only where the batch is worked on."""

    @property
    def size(self) -> int:
        return len(self.packed_ids) // _ID_BYTES

    @property
    def subscriber_ids(self) -> list[SubscriberId]:
        packed = self.packed_ids
        return [SubscriberId(packed[start : start + _ID_BYTES]) for start in range(0, len(packed), _ID_BYTES)]


class ExpansionPosition(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far expanding has come: which topic (behind them the segments, or everyone), and the last id seen there."""

    topic: int = 0
    after: str | None = None


class Trigger(Struct, frozen=True, kw_only=True):
    environment_id: EnvironmentId
    id: TriggerId
    transaction_key: TransactionKey
    workflow_id: WorkflowId
    version_id: WorkflowVersionId
    payload: dict[str, Any]
    overrides: dict[str, Any] | None
    contexts: Contexts | None
    """What its messages belong to; None if there is no context."""
    keeps_contexts: bool = False
    """Whether data of contexts that do not exist holds for this trigger alone, because the caller may not store it."""
    created_at: Millis
    """When it was accepted, or the later moment that it was accepted for."""
    state: TriggerState
    priority: Priority
    lane: int
    """Of all its people; meaningless for one that is expanded."""
    recipients: Recipients
    position: ExpansionPosition | None
    """How far expanding or cancelling has come."""
    accepted_at: Millis | None = None
    """While it is accepted: now, if it is for a later moment."""
    expires_at: Millis | None = None
    """What has not begun by then is not done any more."""
    trace: TraceContext | None = None
    """Of the request that triggers it, while it is accepted; None unless it is traced."""
    warnings: Sequence[str] = ()
    """What the response warns of, while it is accepted."""
    caused_by: NotificationId | None = None
    """The run whose step triggered it, while it is accepted; None for callers."""

    @property
    def is_canceled(self) -> bool:
        return self.state.is_canceled

    def is_expired(self, now: Millis) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    @property
    def own_contexts(self) -> Contexts | None:
        """The contexts as they are kept with the trigger: without the data that is stored with the contexts."""
        return self.contexts if self.contexts is None or self.keeps_contexts else names_of(self.contexts)

    @property
    def context_keys(self) -> str | None:
        """The keys of the contexts, as they are stored."""
        return stored_contexts(self.contexts)


def make_transaction_key(now: Millis) -> TransactionKey:
    """Beginning with the moment, so that new ones stand next to each other in the index."""
    return TransactionKey(f"txn_{now:012x}{random_bytes(8).hex()}")


decode_recipients = msgspec.json.Decoder(Recipients).decode
decode_position = msgspec.json.Decoder(ExpansionPosition).decode

_DELAY = "delay"
_LAYOUT = "layoutIdentifier"
_LAYERS = frozenset({*Channel, _DELAY, _LAYOUT, "channels", "providers", "steps"})
_LAYOUT_ID = "layoutId"
_LAYOUT_OF_EMAIL = f"channels.{Channel.EMAIL}.{_LAYOUT_ID}"
_OF_STEPS = frozenset({"providers", _LAYOUT_ID})
_REASONS = {_LAYOUT_ID: "only e-mail steps have layouts", "providers": "is read under the stepId of the step"}
"""Why what is read of some steps is not read of others."""


def list_misplaced_overrides(overrides: Mapping[str, Any], workflow_steps: Sequence[Step] | None) -> dict[str, str]:
    """What stands where nothing reads it, and why, by path; without the steps nothing is compared with them."""
    misplaced = {
        name: "is neither a channel nor a provider"
        for name in overrides
        if name not in _LAYERS and find_provider(name) is None
    }
    if Channel.IN_APP in overrides:
        misplaced[Channel.IN_APP] = "in-app messages have no overrides"
    if workflow_steps is not None and _DELAY in overrides and all(one.type != StepType.DELAY for one in workflow_steps):
        misplaced[_DELAY] = "the workflow has no delay step"
    misplaced |= _list_unknown_providers("providers", overrides.get("providers"))
    channels = overrides.get("channels")
    for path, name in _list_members("channels", channels if isinstance(channels, dict) else {}):
        if path != _LAYOUT_OF_EMAIL:
            misplaced[path] = f"only {_LAYOUT_OF_EMAIL} is read; {name} of a channel stands in its own overrides"
    steps = overrides.get("steps")
    for step_id, step in steps.items() if isinstance(steps, dict) else ():
        misplaced |= _list_misplaced_in_step(step_id, step, workflow_steps)
    return misplaced


def _list_misplaced_in_step(
    reference: str, wanted: object, workflow_steps: Sequence[Step] | None
) -> Iterator[tuple[str, str]]:
    """Yield what is not read of the overrides of one step, which is named by `stepId`, or by `_id` for its layout."""
    path, read = f"steps.{reference}", _OF_STEPS
    if workflow_steps is not None:
        step = next((one for one in workflow_steps if reference in (one.step_id, one.id)), None)
        if step is None:
            yield path, "the workflow has no such step"
            return
        read = read if step.step_id == reference else frozenset({_LAYOUT_ID})
        read = read if step.type is StepType.EMAIL else read - {_LAYOUT_ID}
    if not isinstance(wanted, dict):
        return
    for name in wanted.keys() - read:
        yield f"{path}.{name}", _REASONS.get(name, "only providers and layoutId are read here")
    yield from _list_unknown_providers(f"{path}.providers", wanted.get("providers")).items()


def _list_members(path: str, layers: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the paths and names of the members of members."""
    for name, layer in layers.items():
        yield from ((f"{path}.{name}.{inner}", inner) for inner in (layer if isinstance(layer, dict) else ()))


def _list_unknown_providers(path: str, providers: object) -> dict[str, str]:
    names = providers if isinstance(providers, dict) else ()
    return {f"{path}.{name}": "is not a provider" for name in names if find_provider(name) is None}
