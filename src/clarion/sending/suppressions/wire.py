"""Shapes of suppressed addresses."""

from typing import Annotated, Literal, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.clock import iso_text
from clarion.http.pages import PageNumber
from clarion.http.wire import DateTimeText, Wire, given, one_of
from clarion.ids import id_text
from clarion.providers.builtin import BuiltinNames
from clarion.sending.suppressions.model import Suppression, SuppressionReason
from clarion.vocabulary import Channel

SuppressedChannel = Annotated[str, one_of(Literal["email", "sms"])]
MAX_BULK = 1_000


class SuppressionQuery(Wire):
    channel: Channel | None = None
    address: str | None = None
    """Only this address, whole."""
    reason: SuppressionReason | None = None
    """Only addresses that were suppressed for this reason."""
    page: PageNumber = 0
    limit: Annotated[int, Meta(ge=1, le=100)] = 10


class SuppressionIn(Wire):
    channel: Channel
    """Whether it is an e-mail address or a phone number."""
    address: Annotated[str, Meta(min_length=1, max_length=1000)]
    """The address that gets nothing more: an e-mail address, or a phone number with its country code."""
    detail: Annotated[str, Meta(max_length=1000)] | None = None
    """Your own note about why."""


class AddressIn(Wire):
    channel: Channel
    """Whether it is an e-mail address or a phone number."""
    address: Annotated[str, Meta(min_length=1, max_length=1000)]
    """The address that may get messages again."""


class SuppressionsIn(Wire):
    suppressions: Annotated[list[SuppressionIn], Meta(min_length=1, max_length=MAX_BULK)]
    """The addresses to suppress."""


class AddressesIn(Wire):
    suppressions: Annotated[list[AddressIn], Meta(min_length=1, max_length=MAX_BULK)]
    """The addresses to clear."""


class SuppressionsAddedOut(Wire):
    added: int
    """How many addresses are suppressed now that were not before."""
    existing: int
    """How many were suppressed already, or were named again."""


class SuppressionsRemovedOut(Wire):
    removed: int
    """How many addresses are not suppressed any more."""
    missing: int
    """How many were not suppressed, or were named again."""


class SuppressionExportQuery(Wire):
    channel: Channel | None = None
    reason: SuppressionReason | None = None
    """Only addresses that were suppressed for this reason."""
    after: str | None = None
    """The `next` of the page before."""
    limit: Annotated[int, Meta(ge=1, le=10_000)] = 1_000


class SuppressionOut(Wire):
    environment_id: str = field(name="_environmentId")
    channel: Channel
    """Whether it is an e-mail address or a phone number."""
    address: str
    """The address that gets nothing more."""
    reason: SuppressionReason
    """Why it is suppressed."""
    provider_id: str | UnsetType = UNSET
    """The provider that reported it; absent if a caller suppressed it."""
    message_id: str | UnsetType = field(name="_messageId", default=UNSET)
    """The `_id` of the message that was reported about."""
    detail: str | UnsetType = UNSET
    """The words of the provider, or the note of the caller."""
    created_at: DateTimeText

    @classmethod
    def of(cls, suppression: Suppression, names: BuiltinNames) -> Self:
        return cls(
            environment_id=id_text(suppression.environment_id),
            channel=suppression.channel,
            address=suppression.address,
            reason=suppression.reason,
            provider_id=UNSET if suppression.provider_id is None else names.to_wire(suppression.provider_id),
            message_id=UNSET if suppression.message_id is None else id_text(suppression.message_id),
            detail=given(suppression.detail),
            created_at=iso_text(suppression.created_at),
        )


class SuppressionExportOut(Wire):
    """A page of an export, the oldest first; `next` is null on the last one."""

    data: list[SuppressionOut]
    next: str | None
