"""The shape of the person whose inbox it is."""

from typing import Any, Self

from msgspec import UNSET, UnsetType

from clarion.http.wire import Wire, given
from clarion.ids import id_text
from clarion.subscribers.model import Subscriber


class RecipientOut(Wire):
    id: str
    subscriber_id: str
    first_name: str | UnsetType = UNSET
    last_name: str | UnsetType = UNSET
    avatar: str | UnsetType = UNSET
    locale: str | UnsetType = UNSET
    timezone: str | UnsetType = UNSET
    email: str | UnsetType = UNSET
    phone: str | UnsetType = UNSET
    data: dict[str, Any] | UnsetType = UNSET

    @classmethod
    def of(cls, subscriber: Subscriber) -> Self:
        return cls(
            id=id_text(subscriber.id),
            subscriber_id=subscriber.key,
            first_name=given(subscriber.first_name),
            last_name=given(subscriber.last_name),
            avatar=given(subscriber.avatar),
            locale=given(subscriber.locale),
            timezone=given(subscriber.timezone),
            email=given(subscriber.email),
            phone=given(subscriber.phone),
            data=given(subscriber.data),
        )
