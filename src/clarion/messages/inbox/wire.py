"""Shapes of the inbox: notifications as lists show them, and the filters and bodies of its operations."""

import functools
from typing import Annotated, Any, Literal, Self, cast

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from clarion.clock import Millis, iso_text
from clarion.errors import Invalid, Malformed
from clarion.http.limits import check_nesting
from clarion.http.pages import MAX_OFFSET
from clarion.http.validation import find_problems
from clarion.http.wire import DateTimeText, IdText, JsonText, MomentText, Wire, given, one_of, parse_checked
from clarion.ids import MessageId, find_id, id_text
from clarion.messages.inbox.filters import InboxFilter, check_tags, read_data
from clarion.messages.inbox.recipient import RecipientOut
from clarion.messages.model import InboxMessage
from clarion.messages.wire import MAX_MARKED
from clarion.vocabulary import Channel, Severity
from clarion.workflows.controls import Target
from clarion.workflows.summary import WorkflowSummary

MAX_COUNT_FILTERS = 30

Moment = Annotated[int, Meta(ge=0, le=253_402_300_799_999)]
"""Milliseconds since 1970, up to the year 9999."""
SentFilters = tuple[tuple[InboxFilter, dict[str, Any]], ...]
"""Filters, each with what was sent for it."""
_MAX_CACHED_TEXT = 2_000
_NO_FILTERS = 'must be a JSON array of filters such as [{"read": false}]'


class TagChoice(Wire, forbid_unknown_fields=True):
    """Any of these tags."""

    any_of: list[str] = field(name="or")


class TagChoices(Wire, forbid_unknown_fields=True):
    """Any of the tags in `or`, and any of the tags of each member of `and`."""

    any_of: list[str] | UnsetType = field(name="or", default=UNSET)
    all_of: list[TagChoice] | UnsetType = field(name="and", default=UNSET)

    @property
    def groups(self) -> list[list[str]]:
        first = [] if isinstance(self.any_of, UnsetType) else [self.any_of]
        return first + ([] if isinstance(self.all_of, UnsetType) else [one.any_of for one in self.all_of])


Tags = list[str] | TagChoices | None
DataFilter = JsonText | dict[str, Any] | None


class InboxQuery(Wire):
    """`data` is a JSON object; `tags[]=a&tags[]=b` is any of them, `tags[0][]=a&tags[1][]=b` is one of each group."""

    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    after: IdText | None = None
    offset: Annotated[int, Meta(ge=0, le=MAX_OFFSET)] = 0
    read: bool | None = None
    archived: bool | None = None
    snoozed: bool | None = None
    seen: bool | None = None
    tags: tuple[tuple[str, ...], ...] = ()
    data: JsonText | None = None
    severity: tuple[Severity, ...] = ()
    created_gte: Moment | None = None
    created_lte: Moment | None = None
    context_keys: tuple[str, ...] = ()

    def read_filter(self) -> InboxFilter:
        return InboxFilter(
            read=self.read,
            archived=self.archived,
            snoozed=self.snoozed,
            seen=self.seen,
            tags=check_tags(self.tags),
            data=read_data(self.data),
            severities=self.severity,
            created_gte=_millis(self.created_gte),
            created_lte=_millis(self.created_lte),
            context_keys=self.context_keys or None,
        )

    @property
    def is_first_page(self) -> bool:
        return self.after is None and self.offset == 0

    def echo(self) -> dict[str, Any]:
        """The filters that were sent, and only those."""
        found: dict[str, Any] = {
            "tags": self.tags[0] if len(self.tags) == 1 else self.tags,
            "read": self.read,
            "archived": self.archived,
            "snoozed": self.snoozed,
            "seen": self.seen,
            "data": self.data,
            "severity": self.severity,
            "createdGte": self.created_gte,
            "createdLte": self.created_lte,
            "contextKeys": self.context_keys,
        }
        return {name: value for name, value in found.items() if value is not None and value != ()}


class CountQuery(Wire):
    """`filters` is a JSON array of up to 30 filters."""

    filters: JsonText

    def read_filters(self) -> SentFilters:
        """Return each filter with what was sent for it; raises Invalid with the path of what is not valid."""
        return _read_cached(self.filters) if len(self.filters) <= _MAX_CACHED_TEXT else _read_filters(self.filters)


class CountFilter(Wire, forbid_unknown_fields=True):
    read: bool | None = None
    archived: bool | None = None
    snoozed: bool | None = None
    seen: bool | None = None
    tags: Tags = None
    data: DataFilter = None
    severity: Severity | list[Severity] | None = None
    created_gte: Moment | None = None
    created_lte: Moment | None = None
    context_keys: list[str] | None = None

    def read_filter(self, path: str) -> InboxFilter:
        return InboxFilter(
            read=self.read,
            archived=self.archived,
            snoozed=self.snoozed,
            seen=self.seen,
            tags=_read_tags(self.tags, f"{path}.tags"),
            data=read_data(self.data, f"{path}.data"),
            severities=(self.severity,) if isinstance(self.severity, Severity) else tuple(self.severity or ()),
            created_gte=_millis(self.created_gte),
            created_lte=_millis(self.created_lte),
            context_keys=tuple(self.context_keys) if self.context_keys else None,
        )


class ManyIn(Wire):
    """Which notifications are meant; without filters, all. `data` is a JSON object or its text."""

    tags: Tags = None
    data: DataFilter = None
    context_keys: list[str] | None = None

    def read_filter(self) -> InboxFilter:
        return InboxFilter(
            tags=_read_tags(self.tags, "tags"),
            data=read_data(self.data),
            context_keys=tuple(self.context_keys) if self.context_keys else None,
        )


class SeenIn(ManyIn):
    """As above, or the given notifications alone."""

    notification_ids: Annotated[list[IdText], Meta(max_length=MAX_MARKED)] | None = None

    @property
    def ids(self) -> list[MessageId] | None:
        return None if self.notification_ids is None else [MessageId(one.id) for one in self.notification_ids]


class SnoozeIn(Wire):
    snooze_until: MomentText


class ActionIn(Wire):
    action_type: Literal["primary", "secondary"]


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


class RedirectOut(Wire):
    url: str
    target: Annotated[str, one_of(Target)] | UnsetType = UNSET


class ButtonOut(Wire):
    label: str
    is_completed: bool
    redirect: RedirectOut | UnsetType = UNSET


_Actions = tuple[ButtonOut | UnsetType, ButtonOut | UnsetType, RedirectOut | UnsetType]
"""The primary button, the secondary button, and where a click on the message leads."""
_NO_ACTIONS: _Actions = (UNSET, UNSET, UNSET)


class InboxNotificationOut(Wire, kw_only=False):
    """A message as the inbox shows it."""

    id: str
    transaction_id: str
    body: str
    to: RecipientOut
    is_read: bool
    is_seen: bool
    is_archived: bool
    is_snoozed: bool
    snoozed_until: DateTimeText | None
    delivered_at: list[DateTimeText]
    created_at: DateTimeText
    read_at: DateTimeText | None
    first_seen_at: DateTimeText | None
    archived_at: DateTimeText | None
    channel_type: Channel
    tags: list[str]
    workflow: WorkflowSummary
    severity: Severity
    subject: str | UnsetType = UNSET
    avatar: str | UnsetType = UNSET
    primary_action: ButtonOut | UnsetType = UNSET
    secondary_action: ButtonOut | UnsetType = UNSET
    data: dict[str, Any] | UnsetType = UNSET
    redirect: RedirectOut | UnsetType = UNSET

    @classmethod
    def of(cls, message: InboxMessage, workflow: WorkflowSummary, to: RecipientOut) -> Self:
        created_at, read_at = iso_text(message.created_at), _time(message.read_at)
        primary, secondary, redirect = _NO_ACTIONS if message.cta is None else _read_actions(message.cta)
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


class FilterCountOut(Wire):
    """How many notifications fit a filter, up to 100; `filter` is as it was sent."""

    count: int
    filter: dict[str, Any]


def _read_filters(text: str) -> SentFilters:
    sent = _decode_filters(text)
    try:
        found = msgspec.convert(sent, list[CountFilter], dec_hook=parse_checked)
    except msgspec.ValidationError:
        problems: dict[str, list[Any]] = {}
        for path, problem in find_problems(sent, list[CountFilter], "filters"):
            problems.setdefault(path, []).append(problem)
        raise Invalid(problems) from None
    if not 1 <= len(found) <= MAX_COUNT_FILTERS:
        raise Invalid.field("filters", f"must have 1 to {MAX_COUNT_FILTERS} filters")
    filters = [one.read_filter(f"filters.{number}") for number, one in enumerate(found)]
    return tuple(zip(filters, sent, strict=True))


# Every bell asks for the same few counts, again and again.
_read_cached = functools.lru_cache(maxsize=256)(_read_filters)


def _decode_filters(text: str) -> list[dict[str, Any]]:
    try:
        check_nesting(text.encode())
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, Malformed, ValueError):
        raise Invalid.field("filters", _NO_FILTERS, text) from None
    if not isinstance(value, list):
        raise Invalid.field("filters", _NO_FILTERS, text)
    return value


def _read_tags(tags: Tags, path: str) -> tuple[tuple[str, ...], ...]:
    if tags is None:
        return ()
    return check_tags(tags.groups if isinstance(tags, TagChoices) else [tags], path)


def _read_actions(text: str) -> _Actions:
    return _make_actions_cached(text) if len(text) <= _MAX_CACHED_TEXT else _make_actions(text)


def _make_actions(text: str) -> _Actions:
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


def _time(moment: Millis | None) -> str | None:
    return None if moment is None else iso_text(moment)


def _millis(value: int | None) -> Millis | None:
    return None if value is None else Millis(value)


def find_message_id(text: IdText | None) -> MessageId | None:
    value = None if text is None else find_id(text)
    return None if value is None else MessageId(value)
