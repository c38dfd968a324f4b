"""Triggers as records: whom a workflow is to be run for, and with what."""

from enum import IntEnum, StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from clarion.clock import Millis
from clarion.ids import EnvironmentId, SubscriberKey, TransactionKey, TriggerId, WorkflowId, WorkflowVersionId
from clarion.randomness import random_bytes

MAX_RECIPIENTS = 100
MAX_EVENTS = 100
MAX_PAYLOAD_BYTES = 256 * 1024


class TriggerState(StrEnum):
    """Queued until every recipient has a run."""

    QUEUED = "queued"
    DONE = "done"
    CANCELED = "canceled"
    FAILED = "failed"


class Priority(IntEnum):
    """What goes first within an environment."""

    CRITICAL = 0
    USUAL = 1
    FAN_OUT = 2


class Person(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A recipient by key; `fields` are what the caller wants to be changed of the subscriber."""

    key: SubscriberKey
    fields: dict[str, Any] = {}


class TopicTarget(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All members of a topic but some."""

    id: str
    key: str
    exclude: list[SubscriberKey] = []


class Recipients(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whom a trigger is for, as it is kept: people first, then topics in turn, or everyone there is."""

    people: list[Person] = []
    topics: list[TopicTarget] = []
    everyone: bool = False
    actor: Person | None = None


class Position(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far an expansion has come: which topic (or everyone), and the last id seen there."""

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
    created_at: Millis
    state: TriggerState
    priority: Priority
    recipients: Recipients
    position: Position | None


def make_transaction_key(now: Millis) -> TransactionKey:
    """Beginning with the moment, so that new ones stand next to each other in the index."""
    return TransactionKey(f"txn_{now:012x}{random_bytes(8).hex()}")


decode_recipients = msgspec.json.Decoder(Recipients).decode
decode_position = msgspec.json.Decoder(Position).decode
