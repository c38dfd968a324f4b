"""Which messages of an inbox are meant: filters as records, read from the forms that clients send."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from clarion.clock import Millis
from clarion.contexts.wire import ContextKeysFilter, read_keys
from clarion.errors import Invalid, Malformed
from clarion.http.input.validation import find_problems
from clarion.http.limits import check_nesting
from clarion.http.pages import MAX_OFFSET
from clarion.http.wire import IdText, JsonText, Wire, parse_checked
from clarion.ids import MessageId
from clarion.messages.wire import MAX_MARKED
from clarion.vocabulary import Severity

MAX_FILTER_VALUES = 200
"""How many values the filter by `data` or by `tags` has in all."""

MAX_COUNT_FILTERS = 30

_DATA_LEVELS = 2


_MAX_CACHED_TEXT = 2_000
_OPERATORS = {"or", "and"}
_NO_OBJECT = 'must be a JSON object such as {"orderId": 7}'
_NO_FILTERS = 'must be a JSON array of filters such as [{"read": false}]'

T = TypeVar("T")
Scalar = str | int | float | bool | None
TagGroups = tuple[tuple[str, ...], ...]
"""A message fits if its workflow has one tag of every group."""

Moment = Annotated[int, Meta(ge=0, le=253_402_300_799_999)]
"""Milliseconds since 1970, up to the year 9999."""


class DataCondition(Struct, frozen=True, array_like=True):
    """The values that are allowed at one place in a message's data."""

    path: tuple[str, ...]
    values: tuple[Scalar, ...]


class InboxFilter(Struct, frozen=True, kw_only=True):
    """A message fits if it fits all that is given."""

    read: bool | None = None
    seen: bool | None = None
    archived: bool | None = None
    snoozed: bool | None = None
    severities: tuple[Severity, ...] = ()
    tags: TagGroups = ()
    data: tuple[DataCondition, ...] = ()
    created_gte: Millis | None = None
    created_lte: Millis | None = None
    context_keys: tuple[str, ...] | None = None
    """Of exactly these contexts, or of none if it is empty; None: of any."""

    @property
    def is_light(self) -> bool:
        """Whether an index has the messages that fit, so that few others are read."""
        has_time = self.created_gte is not None or self.created_lte is not None
        is_plain = not (self.tags or self.data or self.context_keys or has_time)
        is_unread = self.read is False and self.snoozed is False
        return is_plain and (is_unread or (self.read is None and self.seen is None and not self.severities))

    def __post_init__(self) -> None:
        if self.read is False and self.archived:
            raise Malformed("'read' false and 'archived' true exclude each other: archived messages are read")


SentFilters = tuple[tuple[InboxFilter, dict[str, Any]], ...]
"""Filters, each with what was sent for it."""


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
    context_keys: ContextKeysFilter | None = None
    """Only notifications of exactly this context, as `type:id` texts in any order; one empty text is for none."""

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
            context_keys=read_keys(self.context_keys),
        )

    @property
    def is_first_page(self) -> bool:
        return self.after is None and self.offset == 0

    def echo(self) -> dict[str, Any]:
        """The filters that were sent, and only those."""
        sent: dict[str, Any] = {
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
        return {name: value for name, value in sent.items() if value is not None and value != ()}


class ContextQuery(Wire):
    context_keys: ContextKeysFilter | None = None
    """The notification is found only if it is of exactly this context; one empty text is for none."""

    @property
    def keys(self) -> tuple[str, ...] | None:
        return read_keys(self.context_keys)


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
    context_keys: ContextKeysFilter | None = None

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
            context_keys=read_keys(self.context_keys),
        )


class ManyIn(Wire):
    """Which notifications are meant; without filters, all. `data` is a JSON object or its text."""

    tags: Tags = None
    """Only notifications of workflows with one of these tags."""
    data: DataFilter = None
    """Only notifications whose `data` has these members."""
    context_keys: ContextKeysFilter | None = None
    """Only notifications of exactly this context, as `type:id` texts in any order; an empty list is for none."""

    def read_filter(self) -> InboxFilter:
        return InboxFilter(
            tags=_read_tags(self.tags, "tags"),
            data=read_data(self.data),
            context_keys=read_keys(self.context_keys),
        )


class SeenIn(ManyIn):
    """As above, or the given notifications alone."""

    notification_ids: Annotated[list[IdText], Meta(max_length=MAX_MARKED)] | None = None
    """Only these notifications, by their `id`s."""

    @property
    def ids(self) -> list[MessageId] | None:
        return None if self.notification_ids is None else [MessageId(one.id) for one in self.notification_ids]


def read_data(value: str | Mapping[str, Any] | None, name: str = "data") -> tuple[DataCondition, ...]:
    """Read a filter by `data`, an object or its JSON text; raises Invalid with the path of what is not valid."""
    if isinstance(value, str):
        value = _decode(value, dict, name, _NO_OBJECT) if value.strip() else {}
    conditions = tuple(_read_members(value or {}, (), name))
    if sum(len(one.values) for one in conditions) > MAX_FILTER_VALUES:
        raise Invalid.field(name, f"has more than {MAX_FILTER_VALUES} values")
    return conditions


def check_tags(groups: Sequence[Sequence[str]], name: str = "tags") -> TagGroups:
    """Return the groups that have tags; raises Invalid if there are too many."""
    if sum(len(one) for one in groups) > MAX_FILTER_VALUES:
        raise Invalid.field(name, f"has more than {MAX_FILTER_VALUES} tags")
    return tuple(tuple(one) for one in groups if one)


def _decode(text: str, kind: type[T], path: str, problem: str) -> T:
    try:
        check_nesting(text.encode())
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, Malformed, ValueError):
        raise Invalid.field(path, problem, text) from None
    if not isinstance(value, kind):
        raise Invalid.field(path, problem, text)
    return value


def _read_members(members: Mapping[str, Any], path: tuple[str, ...], name: str) -> Iterator[DataCondition]:
    for key, value in members.items():
        where, place = f"{name}.{key}", (*path, key)
        if "\x00" in key:
            raise Invalid.field(name, "must not contain the character U+0000")
        if isinstance(value, dict) and value and value.keys() <= _OPERATORS:
            yield from _read_operators(value, place, where)
        elif isinstance(value, dict):
            if len(place) == _DATA_LEVELS:
                raise Invalid.field(where, f"is an object inside {_DATA_LEVELS} others; filters reach no deeper")
            yield from _read_members(value, place, where)
        else:
            yield from _read_choice(value, place, where)


def _read_operators(value: Mapping[str, Any], path: tuple[str, ...], name: str) -> Iterator[DataCondition]:
    if "or" in value:
        yield from _read_choice(value["or"], path, f"{name}.or", is_array=True)
    groups = value.get("and", [])
    if not isinstance(groups, list):
        raise Invalid.field(f"{name}.and", 'must be an array of objects such as {"or": ["a", "b"]}', groups)
    for number, group in enumerate(groups):
        where = f"{name}.and.{number}"
        if isinstance(group, dict) and group.keys() == {"or"}:
            yield from _read_choice(group["or"], path, f"{where}.or", is_array=True)
        else:
            yield from _read_choice(group, path, where)


def _read_choice(value: Any, path: tuple[str, ...], name: str, *, is_array: bool = False) -> Iterator[DataCondition]:
    if is_array and not isinstance(value, list):
        raise Invalid.field(name, "must be an array", value)
    values = value if isinstance(value, list) else [value]
    for scalar in values:
        if not isinstance(scalar, Scalar) or (isinstance(scalar, str) and "\x00" in scalar):
            raise Invalid.field(name, "must be text, a number, true, false, null, or an array of these", scalar)
    if values:
        yield DataCondition(path=path, values=tuple(values))


def _read_filters(text: str) -> SentFilters:
    sent: list[Any] = _decode(text, list, "filters", _NO_FILTERS)
    try:
        counted = msgspec.convert(sent, list[CountFilter], dec_hook=parse_checked)
    except msgspec.ValidationError:
        problems: dict[str, list[Any]] = {}
        for path, problem in find_problems(sent, list[CountFilter], "filters"):
            problems.setdefault(path, []).append(problem)
        raise Invalid(problems) from None
    if not 1 <= len(counted) <= MAX_COUNT_FILTERS:
        raise Invalid.field("filters", f"must have 1 to {MAX_COUNT_FILTERS} filters")
    filters = [wanted.read_filter(f"filters.{number}") for number, wanted in enumerate(counted)]
    return tuple(zip(filters, sent, strict=True))


# Every bell asks for the same few counts, again and again.
_read_cached = functools.lru_cache(maxsize=256)(_read_filters)


def _read_tags(tags: Tags, path: str) -> tuple[tuple[str, ...], ...]:
    if tags is None:
        return ()
    return check_tags(tags.groups if isinstance(tags, TagChoices) else [tags], path)


def _millis(value: int | None) -> Millis | None:
    return None if value is None else Millis(value)
