"""Shapes of triggers."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from clarion.http.wire import CheckedText, SubscriberKeyText, Wire
from clarion.triggers.model import MAX_EVENTS


class TransactionText(CheckedText):
    __slots__ = ()
    RULE = "must have 1 to 255 characters, no control characters and no white space at its ends"
    EXAMPLE = "order-42"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return SubscriberKeyText.accepts(text)


class TopicRecipientIn(Wire):
    topic_key: Annotated[str, Meta(min_length=1, max_length=255)]
    exclude: Annotated[list[SubscriberKeyText], Meta(max_length=100)] | UnsetType = UNSET


class TriggerIn(Wire):
    """`to` is a subscriberId, a subscriber object, a topic object (topicKey, exclude), or an array of these.

    `attachments` of the payload are attached to e-mails: each has a `file` (base64, or bytes) and may have `name`,
    `mime` and `cid`.

    `context` is what the messages belong to, such as `{"tenant": "acme"}` or `{"tenant": {"id": "acme", "data": {}}}`,
    of at most five types. The inbox of a session shows the messages of exactly its own context.
    """

    name: Annotated[str, Meta(min_length=1, max_length=512)]
    to: Any
    payload: dict[str, Any] | None = None
    overrides: dict[str, Any] | None = None
    transaction_id: TransactionText | None = None
    actor: Any = None
    context: dict[str, Any] | None = None


class BroadcastIn(Wire):
    name: Annotated[str, Meta(min_length=1, max_length=512)]
    payload: dict[str, Any] | None = None
    overrides: dict[str, Any] | None = None
    transaction_id: TransactionText | None = None
    actor: Any = None
    context: dict[str, Any] | None = None


class BulkTriggerIn(Wire):
    events: Annotated[list[TriggerIn], Meta(min_length=1, max_length=MAX_EVENTS)]


class TriggerOut(Wire):
    acknowledged: bool
    status: str
    transaction_id: str | UnsetType = UNSET
    error: list[str] | UnsetType = UNSET
