"""Shapes of the inbox: notifications as lists show them, and the filters and bodies of its operations."""

import functools
from typing import Annotated, Any, Literal, Self, cast

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from clarion.clock import Millis, iso_text
from clarion.errors import Invalid, Malformed
from clarion.http.limits import check_nesting
from clarion.http.pages import MAX_OFFSET
from clarion.http.validation import find_problems
from clarion.http.wire import DateTimeText, IdText, JsonText, MomentText, Wire, given, parse_checked
from clarion.ids import MessageId, find_id, id_text
from clarion.inbox.buttons import NO_ACTIONS, ButtonOut, RedirectOut, read_actions
from clarion.inbox.filters import InboxFilter, check_tags, read_data
from clarion.inbox.recipient import RecipientOut
from clarion.messages.model import InboxMessage
from clarion.messages.wire import MAX_MARKED
from clarion.vocabulary import Channel, Severity
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
    """Tags, of which the workflow has to have one."""


class TagChoices(Wire, forbid_unknown_fields=True):
    """Any of the tags in `or`, and any of the tags of each member of `and`."""

    any_of: list[str] | UnsetType = field(name="or", default=UNSET)
    """Tags, of which the workflow has to have one."""
    all_of: list[TagChoice] | UnsetType = field(name="and", default=UNSET)
    """Further choices, which all have to be met."""

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
    """The `id` of the last notification of the page before."""
    offset: Annotated[int, Meta(ge=0, le=MAX_OFFSET)] = 0
    read: bool | None = None
    archived: bool | None = None
    snoozed: bool | None = None
    seen: bool | None = None
    tags: tuple[tuple[str, ...], ...] = ()
    """Only notifications of workflows with one of these tags; of numbered groups, with one tag of each."""
    data: JsonText | None = None
    severity: tuple[Severity, ...] = ()
    """Only notifications of this severity, or of any of several."""
    created_gte: Moment | None = None
    created_lte: Moment | None = None
    context_keys: tuple[str, ...] = ()
    """Only notifications of exactly this context, as `type:id` texts such as `tenant:acme`."""

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
    filters: JsonText
    """A JSON array of up to 30 filters, such as `[{"read": false}]`; each is counted."""

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
    """Only notifications of workflows with one of these tags."""
    data: DataFilter = None
    """Only notifications whose `data` has these members."""
    context_keys: list[str] | None = None
    """Only notifications of exactly this context, as `type:id` texts such as `tenant:acme`."""

    def read_filter(self) -> InboxFilter:
        return InboxFilter(
            tags=_read_tags(self.tags, "tags"),
            data=read_data(self.data),
            context_keys=tuple(self.context_keys) if self.context_keys else None,
        )


class SeenIn(ManyIn):
    """As above, or the given notifications alone."""

    notification_ids: Annotated[list[IdText], Meta(max_length=MAX_MARKED)] | None = None
    """Only these notifications, by their `id`s."""

    @property
    def ids(self) -> list[MessageId] | None:
        return None if self.notification_ids is None else [MessageId(one.id) for one in self.notification_ids]


class SnoozeIn(Wire):
    snooze_until: MomentText
    """When the notification appears again: in the future, at most 90 days ahead."""


class ActionIn(Wire):
    action_type: Literal["primary", "secondary"]
    """Which button of the notification."""


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


def _time(moment: Millis | None) -> str | None:
    return None if moment is None else iso_text(moment)


def _millis(value: int | None) -> Millis | None:
    return None if value is None else Millis(value)


def find_message_id(text: IdText | None) -> MessageId | None:
    value = None if text is None else find_id(text)
    return None if value is None else MessageId(value)
