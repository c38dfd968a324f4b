"""Shapes of the inbox: a notification as lists show it, with its buttons and its person; pages and counts."""

import functools
from typing import Annotated, Any, Generic, Literal, Self, TypeVar, cast

import msgspec
from msgspec import UNSET, Struct, UnsetType

from clarion.clock import Millis, iso_text
from clarion.http.wire import DateTimeText, IdText, MomentText, Wire, given, one_of
from clarion.ids import MessageId, find_id, id_text
from clarion.jsontext import json_value
from clarion.messages.model import InboxMessage
from clarion.subscribers.model import Subscriber
from clarion.vocabulary import Channel, Severity
from clarion.workflows.controls import Target
from clarion.workflows.listing import WorkflowSummary

T = TypeVar("T")
_TEXTS = ("first_name", "last_name", "avatar", "locale", "timezone", "email", "phone")

_MAX_CACHED_TEXT = 2_000


class Reply(Wire, Generic[T]):
    """Clients of the inbox expect an object with `data`."""

    data: T
    """The answer itself."""


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


class RedirectOut(Wire):
    url: str
    """Where the link leads: a URL, or a path of the page with the inbox."""
    target: Annotated[str, one_of(Target)] | UnsetType = UNSET
    """Where the link opens, as the `target` of an HTML link."""


class ButtonOut(Wire):
    label: str
    """The text of the button."""
    is_completed: bool
    """Whether the action of the button was marked as completed."""
    redirect: RedirectOut | UnsetType = UNSET
    """Where a click leads."""


class InboxNotificationOut(Wire, kw_only=False):
    """A message as the inbox shows it."""

    id: str
    """The `_id` of the message."""
    transaction_id: str
    body: str
    """What the person reads."""
    to: RecipientOut
    """The person whose inbox it is."""
    is_read: bool
    """Whether the person has read it."""
    is_seen: bool
    """Whether the person has seen it."""
    is_archived: bool
    """Whether the person has archived it."""
    is_snoozed: bool
    """Whether it is hidden until `snoozedUntil`."""
    snoozed_until: DateTimeText | None
    delivered_at: list[DateTimeText]
    created_at: DateTimeText
    read_at: DateTimeText | None
    """When the person read it."""
    first_seen_at: DateTimeText | None
    """When the person first saw it."""
    archived_at: DateTimeText | None
    channel_type: Channel
    """Always `in_app`."""
    tags: list[str]
    workflow: WorkflowSummary
    """The workflow that it comes from."""
    severity: Severity
    subject: str | UnsetType = UNSET
    """The title, if it has one."""
    avatar: str | UnsetType = UNSET
    """The URL of a picture that is shown beside it."""
    primary_action: ButtonOut | UnsetType = UNSET
    """The first button."""
    secondary_action: ButtonOut | UnsetType = UNSET
    """The second button."""
    data: dict[str, Any] | UnsetType = UNSET
    """The values that the step added."""
    redirect: RedirectOut | UnsetType = UNSET
    """Where a click on the notification leads."""

    @classmethod
    def of(cls, message: InboxMessage, workflow: WorkflowSummary, to: RecipientOut) -> Self:
        created_at, read_at = iso_text(message.created_at), _time(message.read_at)
        primary, secondary, redirect = NO_ACTIONS if message.cta is None else read_actions(message.cta)
        # By position, because Python makes a dictionary of more than 15 keywords, and a page has many notifications.
        return cls(
            id_text(message.id),
            message.transaction_key,
            message.content,
            to,
            message.read,
            message.seen,
            message.archived,
            message.snoozed_until is not None,
            _time(message.snoozed_until),
            [created_at if one == message.created_at else iso_text(one) for one in message.delivered_at],
            created_at,
            read_at,
            # Most are seen when they are read.
            read_at if message.seen_at == message.read_at else _time(message.seen_at),
            _time(message.archived_at),
            Channel.IN_APP,
            workflow.tags,
            workflow,
            message.severity,
            subject=given(message.subject),
            avatar=given(message.avatar),
            primary_action=primary,
            secondary_action=secondary,
            # As it is stored, without decoding it.
            data=UNSET if message.data is None else cast("dict[str, Any]", msgspec.Raw(message.data)),
            redirect=redirect,
        )


class InboxPageOut(Wire):
    data: list[InboxNotificationOut]
    has_more: bool
    filter: dict[str, Any]
    """The filters that were sent."""


class FilterCountOut(Wire):
    """How many notifications fit a filter."""

    count: int
    """How many notifications fit the filter, up to 100."""
    filter: dict[str, Any]
    """The filter as it was sent."""


class SnoozeIn(Wire):
    snooze_until: MomentText
    """When the notification appears again: in the future, at most 90 days ahead."""


class ActionIn(Wire):
    action_type: Literal["primary", "secondary"]
    """Which button of the notification."""


RECIPIENT_JSON = f"json_build_array({', '.join(f's.{name}' for name in ('id', 'key', *_TEXTS))}, s.data::json)"
"""SQL of PostgreSQL: what is shown of a person `s`, in the order that `recipient_of` takes."""


def recipient_of(text: str) -> RecipientOut:
    id_, key, *found, data = json_value(text)
    texts = dict(zip(_TEXTS, map(given, found), strict=True))
    return RecipientOut(id=id_, subscriber_id=key, **texts, data=given(data))


Actions = tuple[ButtonOut | UnsetType, ButtonOut | UnsetType, RedirectOut | UnsetType]
"""The primary button, the secondary button, and where a click on the message leads."""
NO_ACTIONS: Actions = (UNSET, UNSET, UNSET)


class _StoredButton(Struct, frozen=True):
    type: Literal["primary", "secondary"]
    content: str
    url: str | None = None
    target: str | None = None


class _StoredResult(Struct, frozen=True):
    type: str | None = None


class _StoredAction(Struct, frozen=True):
    buttons: list[_StoredButton] = []
    status: str | None = None
    result: _StoredResult | None = None


class _StoredLink(Struct, frozen=True):
    url: str | None = None
    target: str | None = None


class _StoredCta(Struct, frozen=True):
    """The buttons and the link of a message, as they are stored."""

    action: _StoredAction = _StoredAction()
    data: _StoredLink = _StoredLink()


_decode_cta = msgspec.json.Decoder(_StoredCta).decode


def read_actions(text: str) -> Actions:
    return _make_actions_cached(text) if len(text) <= _MAX_CACHED_TEXT else _make_actions(text)


def _make_actions(text: str) -> Actions:
    cta = _decode_cta(text)
    action = cta.action
    done = action.result.type if action.status == "done" and action.result is not None else None
    buttons = {
        one.type: ButtonOut(label=one.content, is_completed=one.type == done, redirect=_redirect(one.url, one.target))
        for one in action.buttons
    }
    redirect = _redirect(cta.data.url, cta.data.target)
    return buttons.get("primary", UNSET), buttons.get("secondary", UNSET), redirect


# The same messages are shown whenever an inbox is opened.
_make_actions_cached = functools.lru_cache(maxsize=2048)(_make_actions)


def _redirect(url: str | None, target: str | None) -> RedirectOut | UnsetType:
    return RedirectOut(url=url, target=given(target)) if url else UNSET


def find_message_id(text: IdText | None) -> MessageId | None:
    value = None if text is None else find_id(text)
    return None if value is None else MessageId(value)


def _time(moment: Millis | None) -> str | None:
    return None if moment is None else iso_text(moment)
