"""Decisions as records, and how they name people, channels, moments and lengths of time."""

from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from msgspec import Struct

from clarion.clock import Millis, iso_text
from clarion.ids import NotificationId, SubscriberKey, TransactionKey, WorkflowKey
from clarion.subscribers.model import Subscriber
from clarion.vocabulary import Channel, Scope, StepType

SHOWN_SCOPES = (Scope.SUBSCRIBERS_READ, Scope.TOPICS_READ, Scope.PREFERENCES_READ, Scope.WORKFLOWS_READ)
"""What decisions show besides events: addresses and values of people, members of topics, preferences, workflows."""

CHANNEL_WORDS = {
    Channel.IN_APP: "in-app",
    Channel.EMAIL: "email",
    Channel.SMS: "SMS",
    Channel.CHAT: "chat",
    Channel.PUSH: "push",
    Channel.TOOL: "tool",
}
STEP_WORDS = {
    **{StepType(channel.value): word for channel, word in CHANNEL_WORDS.items()},
    StepType.DIGEST: "digest",
    StepType.DELAY: "delay",
    StepType.THROTTLE: "throttle",
    StepType.CUSTOM: "custom",
    StepType.TRIGGER: "trigger",
    StepType.BRANCH: "branch",
    StepType.EXIT: "exit",
    StepType.WAIT_FOR: "wait",
    StepType.HTTP_REQUEST: "HTTP",
    StepType.ASK: "question",
    StepType.UPDATE: "update",
    StepType.CLEAR: "clear",
}
_MAX_LISTED = 3


class DecisionKind(StrEnum):
    """What a decision is about; docs/explain.md has a section for each."""

    RECIPIENT = "recipient"
    EXCLUSION = "exclusion"
    DUPLICATE = "duplicate"
    WORKFLOW = "workflow"
    CONDITION = "condition"
    PREFERENCE = "preference"
    SCHEDULE = "schedule"
    THROTTLE = "throttle"
    DIGEST = "digest"
    DELAY = "delay"
    INTEGRATION = "integration"
    SUPPRESSION = "suppression"
    ADDRESS = "address"
    CONTENT = "content"
    ATTEMPT = "attempt"
    RECEIPT = "receipt"
    CANCEL = "cancel"
    BRANCH = "branch"
    EXIT = "exit"
    TRIGGER = "trigger"
    CHANGE = "change"
    EVENT = "event"
    REQUEST = "request"
    ANSWER = "answer"


STEP_KINDS = {
    StepType.DIGEST: DecisionKind.DIGEST,
    StepType.DELAY: DecisionKind.DELAY,
    StepType.THROTTLE: DecisionKind.THROTTLE,
    StepType.CUSTOM: DecisionKind.CONTENT,
    StepType.BRANCH: DecisionKind.BRANCH,
    StepType.EXIT: DecisionKind.EXIT,
    StepType.TRIGGER: DecisionKind.TRIGGER,
    StepType.WAIT_FOR: DecisionKind.EVENT,
    StepType.HTTP_REQUEST: DecisionKind.REQUEST,
    StepType.ASK: DecisionKind.ANSWER,
    StepType.UPDATE: DecisionKind.CHANGE,
    StepType.CLEAR: DecisionKind.CHANGE,
}
"""What decides about a step that sends nothing; those of the others are attempts."""


class Verdict(StrEnum):
    PASSED = "passed"
    STOPPED = "stopped"
    FAILED = "failed"
    WAITING = "waiting"
    UNKNOWN = "unknown"
    """What would tell is deleted, or was never stored."""


class DecisionSource(StrEnum):
    RECORDED = "recorded"
    """Stored when it was made."""
    DERIVED = "derived"
    """Worked out now, from what is stored."""


class Decision(Struct, frozen=True, kw_only=True):
    at: Millis | None
    """None: it was not recorded when it was made."""
    kind: DecisionKind
    verdict: Verdict
    summary: str
    """One sentence for a person."""
    step_id: str | None = None
    channel: Channel | None = None
    values: dict[str, Any] = {}
    """What the rule saw."""
    remedy: str | None = None
    """What would change the verdict."""
    source: DecisionSource = DecisionSource.RECORDED


def derived(
    at: Millis | None,
    kind: DecisionKind,
    verdict: Verdict,
    summary: str,
    values: dict[str, Any] | None = None,
    remedy: str | None = None,
) -> Decision:
    """A decision about the whole run that follows from what is stored."""
    return Decision(
        at=at,
        kind=kind,
        verdict=verdict,
        summary=summary,
        values=values or {},
        remedy=remedy,
        source=DecisionSource.DERIVED,
    )


class Outcome(StrEnum):
    """What came of a channel, from the best to the least."""

    DELIVERED = "delivered"
    """It is in the inbox, or the provider reported that it arrived."""
    SENT = "sent"
    """The provider accepted it."""
    DELETED = "deleted"
    """It was in the inbox, and was deleted since."""
    WAITING = "waiting"
    FAILED = "failed"
    SKIPPED = "skipped"
    """A rule stopped it, or it was not for the person."""
    MERGED = "merged"
    """Its event is in the digest of another run."""
    CANCELED = "canceled"
    UNKNOWN = "unknown"
    """What would tell is deleted, or was never stored."""


class ChannelResult(Struct, frozen=True):
    outcome: Outcome
    summary: str


class OtherTrigger(Struct, frozen=True, kw_only=True):
    """An earlier trigger of the same workflow that may be the one that is asked about."""

    transaction_key: TransactionKey
    notification_id: NotificationId | None
    """None: there is no run of it for the person."""
    triggered_at: Millis


class Explanation(Struct, frozen=True, kw_only=True):
    """Why a person got what they got of one trigger."""

    subscriber_key: SubscriberKey
    workflow_key: WorkflowKey | None
    """None if the transaction is not stored, so that its workflow is not known."""
    notification_id: NotificationId | None = None
    """None: there is no run for the person."""
    transaction_key: TransactionKey | None = None
    channels: dict[Channel, ChannelResult]
    decisions: list[Decision]
    """In the order in which they were made."""
    others: list[OtherTrigger] = []
    warnings: list[str] = []
    """What the response to the trigger warned of."""


def find_channel(kind: StepType) -> Channel | None:
    """The channel of a step, if it has one."""
    return Channel(kind.value) if kind.value in list(Channel) else None


def name_of(person: Subscriber | None, key: str) -> str:
    """The first name of a person, or what there is instead."""
    if person is None:
        return f"'{key}'"
    return person.first_name or person.last_name or f"'{person.key}'"


def day_text(moment: Millis, now: Millis) -> str:
    """A day such as "3 May", with the year where it is another one."""
    day, current = _utc(moment), _utc(now)
    text = f"{day.day} {day:%B}"
    return text if day.year == current.year else f"{text} {day.year}"


def moment_text(moment: Millis, now: Millis) -> str:
    """A moment such as "3 May at 14:05 UTC"."""
    return f"{day_text(moment, now)} at {_utc(moment):%H:%M} UTC"


def length_text(amount: Any, unit: Any) -> str:
    """A length of time such as "1 hour"."""
    number = int(amount) if isinstance(amount, float) and amount.is_integer() else amount
    return f"{number} {str(unit).removesuffix('s') if number == 1 else unit}"


def list_text(items: Iterable[str]) -> str:
    """Some of the items, and how many there are beside these."""
    texts = list(items)
    shown = ", ".join(texts[:_MAX_LISTED])
    return shown if len(texts) <= _MAX_LISTED else f"{shown} and {len(texts) - _MAX_LISTED} more"


def with_moments(values: dict[str, Any], *names: str) -> dict[str, Any]:
    """The values with the named moments as ISO 8601, as the API writes them."""
    return values | {name: iso_text(values[name]) for name in names if isinstance(values.get(name), int)}


def sentence(text: str) -> str:
    """A text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


def _utc(moment: Millis) -> datetime:
    return datetime.fromtimestamp(moment / 1000, UTC)
