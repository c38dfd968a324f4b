"""Filters of an inbox as SQL: which rows of `messages AS t` fit, and in which order an index has them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from clarion.clock import Millis
from clarion.contexts.model import stored_keys
from clarion.db.port import Connection, Dialect
from clarion.db.query import sql
from clarion.ids import EnvironmentId, WorkflowId, first_id, last_id
from clarion.inbox.counts import MAX_INBOX_COUNT
from clarion.inbox.filters import InboxFilter, TagGroups
from clarion.jsontext import json_text, json_value
from clarion.vocabulary import Severity

# A message's position is made when it is created, but may be ahead of the clock by up to a second.
_SLACK = 1_000
_REACH = MAX_INBOX_COUNT + 1

IS_UNREAD = "t.channel = 'in_app' AND NOT t.read AND NOT t.archived AND t.snoozed_until IS NULL"
"""As the index of unread messages says it."""
IS_SHOWN = "t.change IS DISTINCT FROM 'withdrawn'"
"""Whether a message is in its inbox at all; those that are withdrawn are archived, so that only archives ask."""
LIST_TAGGED_WORKFLOWS = sql("SELECT id, tags FROM workflows WHERE environment_id = :environment_id AND tags <> '[]'")


class Conditions(Struct, frozen=True, kw_only=True):
    """A filter as SQL: the parts are disjoint, and an index has each of them in order for one person."""

    where: str
    """Whose messages they are is not in it: add `of_person`."""
    parts: Sequence[str]
    is_unread: bool
    """Whether the index of unread messages has them."""

    @property
    def order(self) -> str:
        """The order of the index; asking for it keeps PostgreSQL from reading the whole table to find a few rows."""
        return "t.severity, t.seen, t.position" if self.is_unread else "t.position"

    def of_person(self, environment_id: str = ":environment_id", subscriber_id: str = ":subscriber_id") -> str:
        """SQL: whose messages they are, in the way that the index finds them."""
        of_environment = f"t.environment_id = {environment_id}"
        of_subscriber = f"t.subscriber_id = {subscriber_id}"
        return f"{of_subscriber} AND {_unsearched(of_environment) if self.is_unread else of_environment}"


def describe_filter(wanted: InboxFilter, *, prefix: str = "", is_ordered: bool = False) -> Conditions:
    """Return a filter as SQL, whose parameters `load_parameters` returns; with `is_ordered` parts are in list order."""
    terms, parts = _split(wanted, is_ordered=is_ordered)
    if wanted.tags:
        terms.append(f"t.workflow_id {{any:{prefix}workflow_ids}}")
    if wanted.data:
        terms.append(f"json_has_values(t.data, :{prefix}data)")
    if wanted.context_keys:
        terms.append(_unsearched(f"t.context_keys = :{prefix}context_keys"))
    elif wanted.context_keys is not None:
        terms.append(_unsearched("t.context_keys IS NULL"))
    if wanted.created_gte is not None:
        terms.append(f"t.created_at >= :{prefix}gte AND t.position >= :{prefix}first")
    if wanted.created_lte is not None:
        terms.append(f"t.created_at <= :{prefix}lte AND t.position <= :{prefix}last")
    return Conditions(where=" AND ".join(terms), parts=parts, is_unread=terms[0] == IS_UNREAD)


async def load_parameters(
    db: Connection, environment_id: EnvironmentId, wanted: InboxFilter, *, prefix: str = ""
) -> dict[str, Any]:
    """Return the parameters of a filter, whose names begin with the prefix; tags are resolved to workflows."""
    if wanted.is_light:
        return {}
    parameters: dict[str, Any] = {}
    if wanted.tags:
        parameters["workflow_ids"] = await _list_tagged(db, environment_id, wanted.tags)
    if wanted.data:
        parameters["data"] = json_text(wanted.data)
    if wanted.context_keys:
        parameters["context_keys"] = stored_keys(wanted.context_keys)
    if wanted.created_gte is not None:
        parameters |= {"gte": wanted.created_gte, "first": first_id(Millis(wanted.created_gte - _SLACK))}
    if wanted.created_lte is not None:
        parameters |= {"lte": wanted.created_lte, "last": last_id(Millis(wanted.created_lte + _SLACK))}
    return {f"{prefix}{name}": value for name, value in parameters.items()}


class Extent(NamedTuple):
    """Which part of a list a statement reads. Its limit is in the text: as a parameter it is planned each time."""

    limit: int
    has_offset: bool = False
    """The statement then takes `:skipped`, and `:reach`, the sum of this and the limit."""

    @property
    def text(self) -> str:
        return f"LIMIT {self.limit} OFFSET :skipped" if self.has_offset else f"LIMIT {self.limit}"

    @property
    def reach(self) -> str:
        return ":reach" if self.has_offset else str(self.limit)


def page_text(
    dialect: Dialect, conditions: Conditions, extent: Extent, *, of_person: str, columns: str, stored: str
) -> str:
    """SQL: a page of messages, newest first; `of_person` says whose. The `columns` are made of the `stored` ones."""
    where = f"{of_person} AND {conditions.where}"
    if len(conditions.parts) == 1:
        return f"""
            SELECT {columns} FROM messages AS t WHERE {where} AND {conditions.parts[0]}
            ORDER BY t.position DESC {extent.text}
        """
    selects = [f"SELECT {stored}, t.position FROM messages AS t WHERE {where} AND {one}" for one in conditions.parts]
    if dialect is Dialect.POSTGRES:
        # SQLite merges parts that an index returns in order; PostgreSQL does so only for sorted subqueries.
        selects = [f"({one} ORDER BY position DESC LIMIT {extent.reach})" for one in selects]
    return f"""
        SELECT {columns} FROM (
            {" UNION ALL ".join(selects)} ORDER BY position DESC {extent.text}
        ) AS t ORDER BY t.position DESC
    """


def count_text(conditions: Conditions, of_person: str) -> str:
    """SQL: how many messages there are, up to one more than is shown; `of_person` says whose they are."""
    rows = [
        f"""
            SELECT 1 FROM messages AS t WHERE {of_person} AND {conditions.where} AND {part}
            ORDER BY {conditions.order} LIMIT {_REACH}
        """
        for part in conditions.parts
    ]
    return " + ".join(f"(SELECT count(*) FROM ({one}) AS m)" for one in rows)


def _unsearched(condition: str) -> str:
    """A condition that is checked on the rows that an index returns, and never searched for in an index.

    PostgreSQL 18 searches for a value of a last column once for each value of those before it, which are all different.
    """
    return f"({condition}) IS TRUE"


def _split(wanted: InboxFilter, *, is_ordered: bool) -> tuple[list[str], list[str]]:
    """Return the conditions on the state of messages, and the parts of the list that an index has in order."""
    if wanted.read is False and wanted.snoozed is False:
        return [IS_UNREAD], _split_unread(wanted, is_ordered=is_ordered)
    terms = [
        f"t.{name} = {str(value).upper()}" for name in ("read", "seen") if (value := getattr(wanted, name)) is not None
    ]
    if wanted.severities:
        terms.append(f"t.severity IN ({', '.join(repr(str(one)) for one in wanted.severities)})")
    archived = False if wanted.read is False else wanted.archived
    if wanted.snoozed:
        # Only the index of snoozed messages is left.
        terms += ["t.snoozed_until IS NOT NULL", _unsearched("t.channel = 'in_app'")]
        terms += [] if archived is None else [_unsearched(f"t.archived = {str(archived).upper()}")]
        return terms, ["TRUE"]
    terms.append("t.channel = 'in_app'")
    if wanted.snoozed is False:
        terms.append(_unsearched("t.snoozed_until IS NULL"))
    parts = {False: "t.archived = FALSE", True: f"t.archived = TRUE AND {IS_SHOWN}"}
    return terms, [parts[one] for one in ((False, True) if archived is None else (archived,))]


def _split_unread(wanted: InboxFilter, *, is_ordered: bool) -> list[str]:
    severities = [f"t.severity = '{one}'" for one in wanted.severities or tuple(Severity)]
    if wanted.seen is not None:
        return [f"{one} AND t.seen = {str(wanted.seen).upper()}" for one in severities]
    if not is_ordered:
        return severities
    return [f"{one} AND t.seen = {seen}" for one in severities for seen in ("FALSE", "TRUE")]


async def _list_tagged(db: Connection, environment_id: EnvironmentId, groups: TagGroups) -> list[WorkflowId]:
    """Return the workflows that have a tag of every group, deleted ones included: their messages are still there."""
    rows = await db.fetch(LIST_TAGGED_WORKFLOWS, environment_id=environment_id)
    wanted = [frozenset(one) for one in groups]
    return [row["id"] for row in rows if not any(one.isdisjoint(json_value(row["tags"])) for one in wanted)]
