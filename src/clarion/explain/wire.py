"""Shapes of explanations."""

from typing import Annotated, Any, Self

from msgspec import UNSET, Meta, UnsetType

from clarion.clock import iso_text
from clarion.explain.model import (
    Decision,
    DecisionKind,
    DecisionSource,
    Explanation,
    OtherTrigger,
    Outcome,
    Verdict,
)
from clarion.http.wire import DateTimeText, Wire, given
from clarion.ids import id_text
from clarion.vocabulary import Channel


class ExplainQuery(Wire):
    """Whom and what: a transaction, or the newest triggers of a workflow."""

    subscriber_id: Annotated[str, Meta(min_length=1)]
    """The `subscriberId` of the person."""
    transaction_id: str | None = None
    """The trigger to explain; without it, the newest of `workflowId`."""
    workflow_id: str | None = None
    """The workflow to explain: its identifier, `_id` or slug."""
    channel: Channel | None = None
    """Only decisions about this channel."""


class ExplainRunQuery(Wire):
    channel: Channel | None = None
    """Only decisions about this channel."""


class DecisionOut(Wire):
    """One decision: the rule, what it saw, what it came to, and what would change that."""

    at: DateTimeText | None
    """Null if it was not recorded when it was made."""
    step_id: str | UnsetType = UNSET
    """The step that the decision is about; absent if it is about the whole run."""
    channel: Channel | UnsetType = UNSET
    """The channel that the decision is about; absent if it is about none."""
    kind: DecisionKind
    """Which rule decided."""
    verdict: Verdict
    """What the rule decided."""
    summary: str
    """One sentence for a person."""
    values: dict[str, Any]
    """What the rule saw."""
    remedy: str | UnsetType = UNSET
    """What would change the verdict."""
    source: DecisionSource
    """Where the decision is known from."""

    @classmethod
    def of(cls, decision: Decision) -> Self:
        return cls(
            at=None if decision.at is None else iso_text(decision.at),
            step_id=given(decision.step_id),
            channel=given(decision.channel),
            kind=decision.kind,
            verdict=decision.verdict,
            summary=decision.summary,
            values=decision.values,
            remedy=given(decision.remedy),
            source=decision.source,
        )


class ChannelResultOut(Wire):
    outcome: Outcome
    """What came of the channel."""
    summary: str
    """Why, in one sentence."""


class OtherTriggerOut(Wire):
    """An earlier trigger of the workflow; ask for it by its transaction."""

    transaction_id: str
    notification_id: str | UnsetType = UNSET
    """The `_id` of the run; absent if there is none for the person."""
    triggered_at: DateTimeText
    """When it was triggered."""

    @classmethod
    def of(cls, trigger: OtherTrigger) -> Self:
        return cls(
            transaction_id=trigger.transaction_key,
            notification_id=UNSET if trigger.notification_id is None else id_text(trigger.notification_id),
            triggered_at=iso_text(trigger.triggered_at),
        )


class ExplanationOut(Wire):
    subscriber_id: str
    workflow_id: str | None
    """Null if the transaction is not stored, so that its workflow is not known."""
    notification_id: str | UnsetType = UNSET
    """Absent if there is no run for the person."""
    transaction_id: str | UnsetType = UNSET
    channels: dict[Channel, ChannelResultOut]
    """What came of each channel of the workflow."""
    decisions: list[DecisionOut]
    """In the order in which they were made."""
    others: list[OtherTriggerOut] | UnsetType = UNSET
    """Asked for a workflow: its triggers before this one that may be meant, newest first."""
    warnings: list[str] | UnsetType = UNSET
    """What the response to the trigger warned of, such as members that nothing reads; absent if nothing."""

    @classmethod
    def of(cls, explanation: Explanation) -> Self:
        return cls(
            subscriber_id=explanation.subscriber_key,
            workflow_id=explanation.workflow_key,
            notification_id=UNSET if explanation.notification_id is None else id_text(explanation.notification_id),
            transaction_id=given(explanation.transaction_key),
            channels={
                channel: ChannelResultOut(outcome=result.outcome, summary=result.summary)
                for channel, result in explanation.channels.items()
            },
            decisions=[DecisionOut.of(decision) for decision in explanation.decisions],
            others=[OtherTriggerOut.of(other) for other in explanation.others] if explanation.others else UNSET,
            warnings=explanation.warnings or UNSET,
        )
