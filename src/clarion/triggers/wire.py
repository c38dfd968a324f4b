"""Shapes of triggers."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from clarion.contexts.wire import ContextsIn
from clarion.http.wire import CheckedText, MomentText, SubscriberKeyText, Wire, one_of
from clarion.subscribers.wire import SubscriberIn
from clarion.triggers.model import MAX_EVENTS, MAX_RECIPIENTS, TriggerOutcome


class TransactionText(CheckedText):
    __slots__ = ()
    RULE = "must have 1 to 255 characters, no control characters and no white space at its ends"
    EXAMPLE = "order-42"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return SubscriberKeyText.accepts(text)


class TopicRecipientIn(Wire):
    type: Annotated[Any, one_of(Literal["Topic"])] = UNSET
    """Always `Topic`; may be left out."""
    topic_key: Annotated[str, Meta(min_length=1, max_length=255)]
    """The key of the topic whose members are the recipients."""
    exclude: Annotated[list[SubscriberKeyText], Meta(max_length=100)] | UnsetType = UNSET
    """The `subscriberId`s of members who get nothing."""


class SegmentRecipientIn(Wire):
    type: Annotated[Any, one_of(Literal["Segment"])] = UNSET
    """Always `Segment`; may be left out."""
    segment_key: Annotated[str, Meta(min_length=1, max_length=255)]
    """The key of the segment whose people are the recipients; its condition of this moment holds."""
    exclude: Annotated[list[SubscriberKeyText], Meta(max_length=100)] | UnsetType = UNSET
    """The `subscriberId`s of people of the segment who get nothing."""


_Recipient = Annotated[Any, one_of(SubscriberKeyText, SubscriberIn, TopicRecipientIn, SegmentRecipientIn)]
_Recipients = Annotated[list[_Recipient], Meta(min_length=1, max_length=MAX_RECIPIENTS)]
RecipientsIn = Annotated[
    Any, one_of(SubscriberKeyText, SubscriberIn, TopicRecipientIn, SegmentRecipientIn, _Recipients)
]
"""Checked by `read_recipients`."""
ActorIn = Annotated[Any, one_of(SubscriberKeyText, SubscriberIn, None)]
"""Checked by `read_actor`."""


class TriggerIn(Wire):
    """`to` is a subscriberId, a subscriber, a topic (topicKey, exclude), a segment (segmentKey, exclude), or an array.

    `attachments` of the payload are attached to e-mails: each has a `file` (base64, or bytes) and may have `name`,
    `mime` and `cid`.

    `context` is what the messages belong to, such as `{"tenant": "acme"}` or `{"tenant": {"id": "acme", "data": {}}}`,
    of at most five types. The inbox of a session shows the messages of exactly its own context.
    """

    name: Annotated[str, Meta(min_length=1, max_length=512)]
    """The identifier of the workflow to run; its `_id` works too."""
    to: RecipientsIn
    """Who is notified: a `subscriberId`, a subscriber, a topic, a segment, or an array of these.

    Segments need a key with the scope `segments:read`.
    """
    payload: dict[str, Any] | None = None
    overrides: dict[str, Any] | None = None
    transaction_id: TransactionText | None = None
    """Your own id of the trigger: a second trigger with the same id is not run. Made up if absent."""
    actor: ActorIn = None
    context: ContextsIn | None = None

    send_at: MomentText | None = None
    """When the runs begin: at most a year ahead. At once if absent or past."""
    expires_at: MomentText | None = None
    """What has not begun by then, such as a step that waits or a retry, is not done any more. Never if absent."""


class BroadcastIn(Wire):
    name: Annotated[str, Meta(min_length=1, max_length=512)]
    """The identifier of the workflow to run for every subscriber; its `_id` works too."""
    payload: dict[str, Any] | None = None
    overrides: dict[str, Any] | None = None
    transaction_id: TransactionText | None = None
    """Your own id of the trigger: a second trigger with the same id is not run. Made up if absent."""
    actor: ActorIn = None
    context: ContextsIn | None = None
    send_at: MomentText | None = None
    """When the runs begin: at most a year ahead. At once if absent or past."""
    expires_at: MomentText | None = None
    """What has not begun by then, such as a step that waits or a retry, is not done any more. Never if absent."""


class BulkTriggerIn(Wire):
    events: Annotated[list[TriggerIn], Meta(min_length=1, max_length=MAX_EVENTS)]
    """The triggers; each is accepted or refused by itself."""


class TriggerResultOut(Wire):
    acknowledged: bool
    """Always true; `status` says what came of the trigger."""
    status: TriggerOutcome
    """What came of the trigger; only `processed` runs the workflow."""
    transaction_id: str | UnsetType = UNSET
    """The id of the trigger: yours, or one that was made up."""
    error: list[str] | UnsetType = UNSET
    """Why the trigger was not run, in sentences."""
