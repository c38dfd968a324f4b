"""Shapes of dead letters."""

from typing import Annotated, Self

from msgspec import Meta, field

from clarion.clock import iso_text
from clarion.deadletters.model import DeadLetter
from clarion.http.pages import PageNumber
from clarion.http.wire import IdText, Wire
from clarion.ids import id_text
from clarion.providers.builtin.names import BuiltinNames
from clarion.vocabulary import Channel

MAX_NAMED = 1_000


class DeadLetterQuery(Wire):
    channel: Channel | None = None
    provider_id: str | None = None
    subscriber_id: str | None = None
    page: PageNumber = 0
    limit: Annotated[int, Meta(ge=1, le=100)] = 10


class RedriveIn(Wire):
    """The dead letters to redrive: those that match every given field, or all of them."""

    ids: Annotated[list[IdText], Meta(min_length=1, max_length=MAX_NAMED)] | None = None
    channel: Channel | None = None
    provider_id: str | None = None
    subscriber_id: str | None = None
    all: bool = False


class RedriveOut(Wire):
    redriven: int
    has_more: bool
    """Whether another call may redrive more of them."""


class DeadLetterOut(Wire):
    id: str = field(name="_id")
    """Of the job."""
    notification_id: str = field(name="_notificationId")
    transaction_id: str
    workflow_id: str
    subscriber_id: str
    channel: Channel
    provider_id: str | None
    attempts: int
    errors: list[str]
    possibly_delivered: bool
    """Whether a provider may have accepted a message, which would then arrive twice."""
    died_at: str
    created_at: str

    @classmethod
    def of(cls, one: DeadLetter, names: BuiltinNames) -> Self:
        return cls(
            id=id_text(one.id),
            notification_id=id_text(one.notification_id),
            transaction_id=one.transaction_key,
            workflow_id=one.workflow_key,
            subscriber_id=one.subscriber_key,
            channel=one.channel,
            provider_id=None if one.provider_id is None else names.to_wire(one.provider_id),
            attempts=one.attempts,
            errors=list(one.errors),
            possibly_delivered=one.is_possibly_delivered,
            died_at=iso_text(one.died_at),
            created_at=iso_text(one.created_at),
        )
