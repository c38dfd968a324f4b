"""The shape of the person whose inbox it is."""

from typing import Any, Self

from msgspec import UNSET, UnsetType

from clarion.http.wire import Wire, given
from clarion.ids import id_text
from clarion.jsontext import json_value
from clarion.subscribers.model import Subscriber

_TEXTS = ("first_name", "last_name", "avatar", "locale", "timezone", "email", "phone")


class RecipientOut(Wire):
    id: str
    """The `_id` of the subscriber."""
    subscriber_id: str
    first_name: str | UnsetType = UNSET
    last_name: str | UnsetType = UNSET
    avatar: str | UnsetType = UNSET
    locale: str | UnsetType = UNSET
    timezone: str | UnsetType = UNSET
    email: str | UnsetType = UNSET
    phone: str | UnsetType = UNSET
    data: dict[str, Any] | UnsetType = UNSET
    """Your own values of the person."""

    @classmethod
    def of(cls, subscriber: Subscriber) -> Self:
        texts = {name: given(getattr(subscriber, name)) for name in _TEXTS}
        return cls(id=id_text(subscriber.id), subscriber_id=subscriber.key, **texts, data=given(subscriber.data))


RECIPIENT_JSON = f"json_build_array({', '.join(f's.{name}' for name in ('id', 'key', *_TEXTS))}, s.data::json)"
"""SQL of PostgreSQL: what is shown of a person `s`, in the order that `recipient_of` takes."""


def recipient_of(text: str) -> RecipientOut:
    id_, key, *found, data = json_value(text)
    texts = dict(zip(_TEXTS, map(given, found), strict=True))
    return RecipientOut(id=id_, subscriber_id=key, **texts, data=given(data))
