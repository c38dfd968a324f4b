"""Shapes of suppressed addresses."""

from typing import Annotated, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.clock import iso_text
from clarion.http.pages import PageNumber
from clarion.http.wire import Wire, given
from clarion.ids import id_text
from clarion.providers.builtin.names import BuiltinNames
from clarion.suppressions.model import Suppression, SuppressionReason
from clarion.vocabulary import Channel


class SuppressionQuery(Wire):
    channel: Channel | None = None
    address: str | None = None
    reason: SuppressionReason | None = None
    page: PageNumber = 0
    limit: Annotated[int, Meta(ge=1, le=100)] = 10


class SuppressionIn(Wire):
    channel: Channel
    address: Annotated[str, Meta(min_length=1, max_length=1000)]
    detail: Annotated[str, Meta(max_length=1000)] | None = None


class SuppressionOut(Wire):
    environment_id: str = field(name="_environmentId")
    channel: Channel
    address: str
    reason: SuppressionReason
    provider_id: str | UnsetType = UNSET
    message_id: str | UnsetType = field(name="_messageId", default=UNSET)
    detail: str | UnsetType = UNSET
    created_at: str

    @classmethod
    def of(cls, one: Suppression, names: BuiltinNames) -> Self:
        return cls(
            environment_id=id_text(one.environment_id),
            channel=one.channel,
            address=one.address,
            reason=one.reason,
            provider_id=UNSET if one.provider_id is None else names.to_wire(one.provider_id),
            message_id=UNSET if one.message_id is None else id_text(one.message_id),
            detail=given(one.detail),
            created_at=iso_text(one.created_at),
        )
