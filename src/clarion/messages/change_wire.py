"""Shapes of changes of messages: new content, and which messages are withdrawn."""

from typing import Annotated, Any, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.http.wire import IdText, Wire, given, one_of
from clarion.ids import id_text
from clarion.messages.changes import ChangeState
from clarion.messages.changing import Changed
from clarion.vocabulary import Channel
from clarion.workflows.controls import Target

MAX_TEXT = 64 * 1024
MAX_LINE = 4 * 1024
MAX_WITHDRAWN = 500
"""In one call, so that the rows of a broadcast are not locked together."""
Line = Annotated[str, Meta(max_length=MAX_LINE)]
Text = Annotated[str, Meta(max_length=MAX_TEXT)]


class MessageLinkIn(Wire):
    url: Line
    """A URL, or a path of the page with the inbox."""
    target: Target = Target.SELF
    """Where the link opens, as the `target` of an HTML link."""


class MessageButtonIn(Wire):
    label: Annotated[str, Meta(min_length=1, max_length=MAX_LINE)]
    """The text of the button."""
    redirect: MessageLinkIn | None = None
    """Where a click leads; null: nowhere."""


class MessagePatch(Wire):
    """What is to be different of a message; fields that are left out stay, and null removes one."""

    subject: Line | UnsetType | None = UNSET
    """The title of an in-app message."""
    title: Line | UnsetType | None = UNSET
    """The title of a push message."""
    body: Text | UnsetType = UNSET
    """What the person reads."""
    avatar: Line | UnsetType | None = UNSET
    """The URL of the picture beside an in-app message."""
    primary_action: MessageButtonIn | UnsetType | None = UNSET
    """The first button of an in-app message."""
    secondary_action: MessageButtonIn | UnsetType | None = UNSET
    """The second button of an in-app message."""
    redirect: MessageLinkIn | UnsetType | None = UNSET
    """Where a click on an in-app message leads."""
    data: dict[str, Any] | UnsetType | None = UNSET
    """The values of an in-app or push message, replaced as a whole; at most 16 KB of JSON."""

    @property
    def given(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: value for name, value in values.items() if value is not UNSET}


class WithdrawQuery(Wire):
    transaction_id: Annotated[str, Meta(min_length=1, max_length=255)] | None = None
    """Only messages of the trigger with this transactionId."""
    workflow: Annotated[str, Meta(min_length=1, max_length=255)] | None = None
    """Only messages of the workflow with this identifier."""
    after: IdText | None = None
    """The `next` of the call before."""
    limit: Annotated[int, Meta(ge=1, le=MAX_WITHDRAWN)] = MAX_WITHDRAWN
    """How many messages in this call."""


class WithdrawnMessageOut(Wire):
    """What became of a message that was to be withdrawn."""

    id: str = field(name="_id")
    subscriber_id: str = field(name="_subscriberId")
    channel: Channel
    state: Annotated[str, one_of(ChangeState)]
    """Whether it is withdrawn, its provider is asked to take it back, or it stays."""
    reason: str | UnsetType = UNSET
    """Why it stays."""

    @classmethod
    def of(cls, changed: Changed) -> Self:
        message, verdict = changed
        return cls(
            id=id_text(message.id),
            subscriber_id=id_text(message.subscriber_id),
            channel=message.channel,
            state=verdict.state or message.change or ChangeState.WITHDRAWN,
            reason=given(verdict.reason),
        )


class WithdrawResultOut(Wire):
    withdrawn: int
    """How many nobody sees any more, those that were withdrawn before included."""
    pending: int
    """How many their providers are asked to take back; their steps tell what they answer."""
    not_withdrawn: int
    """How many stay where they are, because no provider can take them back."""
    messages: list[WithdrawnMessageOut]
    """Each message of this call."""
    next: str | None
    """What to give as `after` to go on; null if these were the last."""
