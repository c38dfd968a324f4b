"""Decisions as records."""

from enum import StrEnum
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.ids import NotificationId, SubscriberKey, TransactionKey, WorkflowKey
from clarion.vocabulary import Channel, Scope, StepType

SHOWN_SCOPES = (Scope.SUBSCRIBERS_READ, Scope.TOPICS_READ, Scope.PREFERENCES_READ, Scope.WORKFLOWS_READ)
"""What decisions show besides events: addresses and values of people, members of topics, preferences, workflows."""


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


STEP_KINDS = {
    StepType.DIGEST: DecisionKind.DIGEST,
    StepType.DELAY: DecisionKind.DELAY,
    StepType.THROTTLE: DecisionKind.THROTTLE,
    StepType.CUSTOM: DecisionKind.CONTENT,
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
