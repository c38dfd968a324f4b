"""Shapes of dead letters."""

from typing import Annotated, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.clock import iso_text
from clarion.db.port import Row
from clarion.http.pages import PageNumber
from clarion.http.wire import DateTimeText, IdText, Wire, given
from clarion.ids import id_text
from clarion.providers.builtin import BuiltinNames
from clarion.runs.notifications.wire import ExecutionDetailOut
from clarion.sending.dead_letters.model import MAX_REDRIVEN, DeadLetter, DeadLetterGrouping
from clarion.vocabulary import Channel

MAX_NAMED = 1_000
_MAX_LIMIT = 10_000


class DeadLetterFilters(Wire):
    channel: Channel | None = None
    """Only dead letters of this channel."""
    provider_id: str | None = None
    """Only dead letters of this provider."""
    subscriber_id: str | None = None
    """Only dead letters of the subscriber with this `subscriberId`."""
    workflow_id: str | None = None
    """Only dead letters of the workflow with this identifier."""
    reason: Annotated[str, Meta(min_length=1, max_length=1_000)] | None = None
    """How the error of one of its messages begins, such as a group of the counts by reason."""


class DeadLetterQuery(DeadLetterFilters):
    page: PageNumber = 0
    limit: Annotated[int, Meta(ge=1, le=100)] = 10


class DeadLetterCountQuery(DeadLetterFilters):
    group_by: DeadLetterGrouping
    """What is counted: dead letters by reason, provider, workflow or channel."""


class DeadLetterSelection(DeadLetterFilters):
    """The dead letters to redrive or discard: those that match every given field, or all of them."""

    ids: Annotated[list[IdText], Meta(min_length=1, max_length=MAX_NAMED)] | None = None
    """Only these, by their `_id`s."""
    all: bool = False
    """Whether all dead letters are meant, if nothing else is given."""
    limit: Annotated[int, Meta(ge=1, le=_MAX_LIMIT)] = MAX_REDRIVEN
    """How many in this call, the oldest first. One call does at most 1000, and says whether there are more."""


class RedriveResultOut(Wire):
    redriven: int
    """How many are sent again now."""
    has_more: bool
    """Whether another call may redrive more of them."""
    remaining: int
    """How many are left, of which at most 10000 are counted."""


class DiscardOut(Wire):
    discarded: int
    """How many were taken off the list."""
    has_more: bool
    """Whether another call may discard more of them."""
    remaining: int
    """How many are left, of which at most 10000 are counted."""


class DeadLetterGroupOut(Wire):
    value: str
    """What to filter by: the reason, providerId, workflowId or channel."""
    count: int
    """How many dead letters the group has."""


class DeadLetterCountsOut(Wire):
    """The largest groups first. A dead letter whose messages have different errors counts for each reason."""

    group_by: DeadLetterGrouping
    """What the groups are."""
    groups: list[DeadLetterGroupOut]
    """The groups, the largest first."""
    has_more_groups: bool
    """Whether smaller groups are left out."""
    total: int
    """How many dead letters there are, up to 10000."""
    total_capped: bool
    """Whether there are more dead letters than were counted, the newest 10000."""


class DeadLetterOut(Wire):
    id: str = field(name="_id")
    """The `_id` of the job whose message could not be sent."""
    notification_id: str = field(name="_notificationId")
    transaction_id: str
    workflow_id: str
    subscriber_id: str
    channel: Channel
    provider_id: str | None
    """The provider that was tried last; null if none was."""
    attempts: int
    """How often it was tried."""
    errors: list[str]
    """The errors of its messages, in the words of the providers."""
    possibly_delivered: bool
    """Whether a provider may have accepted a message, which would then arrive twice."""
    died_at: DateTimeText
    """When the last attempt was given up."""
    created_at: DateTimeText

    @classmethod
    def of(cls, letter: DeadLetter, names: BuiltinNames) -> Self:
        return cls(
            id=id_text(letter.id),
            notification_id=id_text(letter.notification_id),
            transaction_id=letter.transaction_key,
            workflow_id=letter.workflow_key,
            subscriber_id=letter.subscriber_key,
            channel=letter.channel,
            provider_id=None if letter.provider_id is None else names.to_wire(letter.provider_id),
            attempts=letter.attempts,
            errors=list(letter.errors),
            possibly_delivered=letter.is_possibly_delivered,
            died_at=iso_text(letter.died_at),
            created_at=iso_text(letter.created_at),
        )


class UnsentMessageOut(Wire):
    """A message of a dead letter that was not sent."""

    id: str = field(name="_id")
    integration_id: str | UnsetType = field(name="_integrationId", default=UNSET)
    provider_id: str | UnsetType = UNSET
    error_id: str | UnsetType = UNSET
    error_text: str | UnsetType = UNSET
    given_up_at: DateTimeText | UnsetType = UNSET
    """When the last attempt to send it failed for good."""

    @classmethod
    def of(cls, row: Row, names: BuiltinNames) -> Self:
        given_up_at, integration_id = row["given_up_at"], row["integration_id"]
        return cls(
            id=id_text(row["id"]),
            integration_id=UNSET if integration_id is None else id_text(integration_id),
            provider_id=UNSET if row["provider_id"] is None else names.to_wire(row["provider_id"]),
            error_id=given(row["error_id"]),
            error_text=given(row["error_text"]),
            given_up_at=UNSET if given_up_at is None else iso_text(given_up_at),
        )


class DeadLetterDetailOut(DeadLetterOut):
    """A dead letter with everything that is known about its attempts."""

    messages: list[UnsentMessageOut]
    """The messages that were not sent."""
    execution_details: list[ExecutionDetailOut]

    @classmethod
    def of_details(
        cls, letter: DeadLetterOut, messages: list[UnsentMessageOut], details: list[ExecutionDetailOut]
    ) -> Self:
        shown = {name: getattr(letter, name) for name in letter.__struct_fields__}
        return cls(**shown, messages=messages, execution_details=details)
