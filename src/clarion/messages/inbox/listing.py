"""Lists and counts of one person's inbox, newest first; each view walks an index that has its messages in order."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from clarion.clock import Millis
from clarion.db.listing import MAX_PAGE_BYTES
from clarion.db.port import Connection, Dialect
from clarion.db.query import Query, sql
from clarion.environments.configuration import CONFIGURATION_VERSION
from clarion.ids import EnvironmentId, MessageId, SubscriberId, WorkflowId, first_id, last_id
from clarion.jsontext import json_text, json_value
from clarion.messages.inbox.counts import MAX_INBOX_COUNT
from clarion.messages.inbox.filters import InboxFilter, TagGroups
from clarion.messages.model import InboxMessage
from clarion.subscribers.model import Subscriber
from clarion.vocabulary import Severity

# A message's position is made when it is created, but may be ahead of the clock by up to a second.
_SLACK = 1_000
_REACH = MAX_INBOX_COUNT + 1
_decode_moments = msgspec.json.Decoder(list[Millis]).decode

IS_UNREAD = "t.channel = 'in_app' AND NOT t.read AND NOT t.archived AND t.snoozed_until IS NULL"
"""As the index of unread messages says it."""
_IDS = "t.environment_id, t.id, t.subscriber_id, t.workflow_id"
_STORED = """
    t.content, t.subject, t.avatar, t.cta, t.data, t.severity, t.seen, t.read, t.archived, t.seen_at, t.read_at,
    t.archived_at, t.snoozed_until, t.delivered_at, t.created_at
"""
COLUMNS = f"""
    {_IDS}, (
        SELECT g.transaction_key FROM triggers AS g
        WHERE g.environment_id = t.environment_id AND g.id = t.trigger_id
    ) AS transaction_key, {_STORED}
"""
"""In the order of the fields of InboxMessage."""
COLUMN_COUNT = 20
_PAGE_COLUMNS = f"{COLUMNS}, {CONFIGURATION_VERSION} AS configuration_version"
OF_PERSON = "t.environment_id = :environment_id AND t.subscriber_id = :subscriber_id"
_AFTER = """
    t.position < COALESCE((
        SELECT p.position FROM messages AS p
        WHERE p.environment_id = :environment_id AND p.id = :after
        AND (p.subscriber_id = :subscriber_id) IS TRUE
    ), :after)
"""
LIST_TAGGED_WORKFLOWS = sql("SELECT id, tags FROM workflows WHERE environment_id = :environment_id AND tags <> '[]'")


class InboxPage(Struct, frozen=True):
    messages: Sequence[InboxMessage]
    has_more: bool
    configuration_version: int
    """Of the environment when the messages were read; it may be 0 if there are none."""


class Conditions(Struct, frozen=True, kw_only=True):
    """A filter as SQL: the parts are disjoint, and an index has each of them in order for one person."""

    where: str
    """Whose messages they are is not in it: add OF_PERSON."""
    parts: Sequence[str]
    order: str
    """The order of the index; asking for it keeps PostgreSQL from reading the whole table to find a few rows."""
    parameters: dict[str, Any]


async def list_inbox(
    db: Connection,
    subscriber: Subscriber,
    wanted: InboxFilter,
    *,
    limit: int,
    after: MessageId | None = None,
    offset: int = 0,
) -> InboxPage:
    """Return one page, newest first. A page of very large messages has fewer than were asked for."""
    conditions = await build_conditions(db, subscriber.environment_id, wanted, is_ordered=True)
    rows = await db.fetch_values(
        page_query(db.dialect, conditions, has_after=after is not None),
        environment_id=subscriber.environment_id,
        subscriber_id=subscriber.id,
        **conditions.parameters,
        page_limit=limit + 1,
        skipped=offset,
        reach=offset + limit + 1,
        **({} if after is None else {"after": after}),
    )
    return make_page(rows, limit, configuration_version=rows[0][-1] if rows else 0)


def make_page(rows: Sequence[Sequence[Any]], limit: int, *, configuration_version: int) -> InboxPage:
    """The page of rows that begin with COLUMNS; one more than the limit says that there are more."""
    found = _cut_large([inbox_message_of(row) for row in rows[:limit]])
    return InboxPage(found, has_more=len(rows) > len(found), configuration_version=configuration_version)


class FilterCounts(Struct, frozen=True):
    """What was counted, and the session epoch of the environment at that moment."""

    counts: list[int]
    """Of each filter, none higher than MAX_INBOX_COUNT."""
    session_epoch: int


async def count_inbox_filters(
    db: Connection, environment_id: EnvironmentId, subscriber_id: SubscriberId, wanted: Sequence[InboxFilter]
) -> FilterCounts | None:
    """Count the messages that fit each filter, in one statement; None if the person does not exist."""
    parameters: dict[str, Any] = {}
    counts = []
    for number, one in enumerate(wanted):
        conditions = await build_conditions(db, environment_id, one, prefix=f"f{number}_")
        parameters |= conditions.parameters
        counts.append(count_text(conditions, OF_PERSON))
    rows = await db.fetch_values(
        sql(f"""
            SELECT (SELECT e.session_epoch FROM environments AS e WHERE e.id = s.environment_id), {", ".join(counts)}
            FROM subscribers AS s WHERE s.environment_id = :environment_id AND s.id = :subscriber_id
        """),
        environment_id=environment_id,
        subscriber_id=subscriber_id,
        **parameters,
    )
    return filter_counts_of(rows[0]) if rows else None


def filter_counts_of(values: Sequence[Any]) -> FilterCounts:
    """The counts of a row: the session epoch, then the number of each filter."""
    return FilterCounts([min(MAX_INBOX_COUNT, one) for one in values[1:]], values[0])


async def build_conditions(
    db: Connection, environment_id: EnvironmentId, wanted: InboxFilter, *, prefix: str = "", is_ordered: bool = False
) -> Conditions:
    """Return a filter as SQL; the names of parameters begin with the prefix. Tags are resolved to workflows first."""
    terms, parts = _split(wanted, is_ordered=is_ordered)
    parameters: dict[str, Any] = {}
    if wanted.tags:
        parameters["workflow_ids"] = await _list_tagged(db, environment_id, wanted.tags)
        terms.append(f"t.workflow_id {{any:{prefix}workflow_ids}}")
    if wanted.data:
        parameters["data"] = json_text(wanted.data)
        terms.append(f"json_has_values(t.data, :{prefix}data)")
    if wanted.context_keys:
        parameters["context_keys"] = json_text(sorted(wanted.context_keys))
        terms.append(f"t.context_keys = :{prefix}context_keys")
    elif wanted.context_keys is not None:
        terms.append("t.context_keys IS NULL")
    if wanted.created_gte is not None:
        parameters |= {"gte": wanted.created_gte, "first": first_id(Millis(wanted.created_gte - _SLACK))}
        terms.append(f"t.created_at >= :{prefix}gte AND t.position >= :{prefix}first")
    if wanted.created_lte is not None:
        parameters |= {"lte": wanted.created_lte, "last": last_id(Millis(wanted.created_lte + _SLACK))}
        terms.append(f"t.created_at <= :{prefix}lte AND t.position <= :{prefix}last")
    return Conditions(
        where=" AND ".join(terms),
        parts=parts,
        order="t.severity, t.seen, t.position" if terms[0] == IS_UNREAD else "t.position",
        parameters={f"{prefix}{name}": value for name, value in parameters.items()},
    )


def page_query(dialect: Dialect, conditions: Conditions, *, has_after: bool) -> Query:
    of_person = f"{OF_PERSON} AND {_AFTER}" if has_after else OF_PERSON
    return sql(page_text(dialect, conditions, of_person, _PAGE_COLUMNS))


def page_text(dialect: Dialect, conditions: Conditions, of_person: str, columns: str) -> str:
    """SQL: the columns of a page of messages `t`, newest first; `of_person` says whose they are."""
    where = f"{of_person} AND {conditions.where}"
    if len(conditions.parts) == 1:
        return f"""
            SELECT {columns} FROM messages AS t WHERE {where} AND {conditions.parts[0]}
            ORDER BY t.position DESC LIMIT :page_limit OFFSET :skipped
        """
    selects = [
        f"SELECT {_IDS}, {_STORED}, t.trigger_id, t.position FROM messages AS t WHERE {where} AND {one}"
        for one in conditions.parts
    ]
    if dialect is Dialect.POSTGRES:
        # SQLite merges parts that an index returns in order; PostgreSQL does so only for sorted subqueries.
        selects = [f"({one} ORDER BY position DESC LIMIT :reach)" for one in selects]
    return f"""
        SELECT {columns} FROM (
            {" UNION ALL ".join(selects)} ORDER BY position DESC LIMIT :page_limit OFFSET :skipped
        ) AS t ORDER BY t.position DESC
    """


def count_text(conditions: Conditions, of_person: str) -> str:
    """SQL: how many messages there are, up to one more than is shown; `of_person` says whose they are."""
    rows = [
        f"""
            SELECT 1 FROM messages AS t WHERE {of_person} AND {conditions.where} AND {one}
            ORDER BY {conditions.order} LIMIT {_REACH}
        """
        for one in conditions.parts
    ]
    return " + ".join(f"(SELECT count(*) FROM ({one}) AS m)" for one in rows)


def inbox_message_of(values: Sequence[Any]) -> InboxMessage:
    """The message of a row that begins with COLUMNS."""
    seen, read, archived = values[11:14]
    delivered_at, created_at = values[18:20]
    moments = [created_at] if delivered_at is None else _decode_moments(delivered_at)
    marks = bool(seen), bool(read), bool(archived)
    return InboxMessage(*(*values[:11], *marks, *values[14:18], moments, created_at))


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
        # IS TRUE leaves the index of snoozed messages as the only one that fits.
        terms += ["t.snoozed_until IS NOT NULL", "(t.channel = 'in_app') IS TRUE"]
        terms += [] if archived is None else [f"(t.archived = {str(archived).upper()}) IS TRUE"]
        return terms, ["TRUE"]
    terms.append("t.channel = 'in_app'")
    if wanted.snoozed is False:
        terms.append("t.snoozed_until IS NULL")
    return terms, [f"t.archived = {str(one).upper()}" for one in ((False, True) if archived is None else (archived,))]


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


def _cut_large(messages: Sequence[InboxMessage]) -> Sequence[InboxMessage]:
    """Return the messages that make up a page which is not too large, but at least one."""
    size = 0
    for number, one in enumerate(messages):
        size += len(one.content) + len(one.data or "") + len(one.cta or "")
        if size > MAX_PAGE_BYTES:
            return messages[: max(1, number)]
    return messages
