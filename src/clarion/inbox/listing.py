"""Lists and counts of one person's inbox, newest first; each view walks an index that has its messages in order."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from clarion.clock import Millis
from clarion.db.listing import MAX_PAGE_BYTES
from clarion.db.port import Connection, Dialect
from clarion.db.query import Query, sql
from clarion.environments.configuration import CONFIGURATION_VERSION
from clarion.ids import EnvironmentId, MessageId, SubscriberId, TransactionKey, TriggerId
from clarion.inbox.conditions import Extent, count_text, describe_filter, load_parameters, page_text
from clarion.inbox.counts import MAX_INBOX_COUNT
from clarion.inbox.filters import InboxFilter
from clarion.messages.model import InboxMessage, InboxOwner
from clarion.subscribers.model import Subscriber

TransactionKeys: TypeAlias = Mapping[TriggerId, TransactionKey]

_decode_moments = msgspec.json.Decoder(list[Millis]).decode

_STORED = """
    t.content, t.subject, t.avatar, t.cta, t.data, t.severity, t.seen, t.read, t.archived, t.seen_at, t.read_at,
    t.archived_at, t.snoozed_until, t.delivered_at, t.created_at
"""
_TRANSACTION_KEY = """
    (SELECT g.transaction_key FROM triggers AS g WHERE g.environment_id = t.environment_id AND g.id = t.trigger_id)
"""
COLUMNS = f"t.id, t.workflow_id, {_TRANSACTION_KEY} AS transaction_key, {_STORED}"
"""In the order of the fields of InboxMessage, without those of its owner."""
COLUMNS_WITHOUT_KEY = f"t.id, t.workflow_id, t.trigger_id, {_STORED}"
"""The same with the trigger in the place of its transaction key."""
TRIGGER_COLUMN = 2
COLUMN_COUNT = 18
STORED_COLUMNS = f"t.id, t.workflow_id, {_STORED}, t.environment_id, t.trigger_id"
"""What COLUMNS are made of."""
_PAGE_COLUMNS = f"{COLUMNS}, {CONFIGURATION_VERSION} AS configuration_version"
_AFTER = """
    t.position < COALESCE((
        SELECT p.position FROM messages AS p
        WHERE p.environment_id = :environment_id AND p.id = :after
        AND (p.subscriber_id = :subscriber_id) IS TRUE
    ), :after)
"""


class InboxPage(Struct, frozen=True):
    messages: Sequence[InboxMessage]
    has_more: bool
    configuration_version: int
    """Of the environment when the messages were read; it may be 0 if there are none."""


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
    owner = InboxOwner(subscriber.environment_id, subscriber.id)
    rows = await db.fetch_values(
        page_query(db.dialect, wanted, Extent(limit + 1, has_offset=offset > 0), has_after=after is not None),
        **owner._asdict(),
        **await load_parameters(db, owner.environment_id, wanted),
        **({"skipped": offset, "reach": offset + limit + 1} if offset else {}),
        **({} if after is None else {"after": after}),
    )
    return make_page(rows, owner, limit, configuration_version=rows[0][-1] if rows else 0)


def make_page(
    rows: Sequence[Sequence[Any]],
    owner: InboxOwner,
    limit: int,
    *,
    configuration_version: int,
    transaction_keys: TransactionKeys | None = None,
) -> InboxPage:
    """The page of rows that `inbox_message_of` takes; one more than the limit says that there are more."""
    found = _cut_large([inbox_message_of(row, owner, transaction_keys) for row in rows[:limit]])
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
    filters = tuple(wanted)
    is_light = all(one.is_light for one in filters)
    parameters: dict[str, Any] = {}
    for number, one in enumerate(() if is_light else filters):
        parameters |= await load_parameters(db, environment_id, one, prefix=_prefix(number))
    rows = await db.fetch_values(
        (_count_query_cached if is_light else _count_query)(filters),
        environment_id=environment_id,
        subscriber_id=subscriber_id,
        **parameters,
    )
    return filter_counts_of(rows[0]) if rows else None


def filter_counts_of(values: Sequence[Any]) -> FilterCounts:
    """The counts of a row: the session epoch, then the number of each filter."""
    return FilterCounts([min(MAX_INBOX_COUNT, one) for one in values[1:]], values[0])


def page_query(dialect: Dialect, wanted: InboxFilter, extent: Extent, *, has_after: bool) -> Query:
    return (_page_query_cached if wanted.is_light else _page_query)(dialect, wanted, extent, has_after)


def _page_query(dialect: Dialect, wanted: InboxFilter, extent: Extent, has_after: bool) -> Query:  # noqa: FBT001 - a key of the cache
    conditions = describe_filter(wanted, is_ordered=True)
    return sql(
        page_text(
            dialect,
            conditions,
            extent,
            of_person=conditions.of_person() + (f" AND {_AFTER}" if has_after else ""),
            columns=_PAGE_COLUMNS,
            stored=STORED_COLUMNS,
        )
    )


def _count_query(filters: tuple[InboxFilter, ...]) -> Query:
    described = [describe_filter(one, prefix=_prefix(number)) for number, one in enumerate(filters)]
    counts = [count_text(one, one.of_person()) for one in described]
    return sql(f"""
        SELECT (SELECT e.session_epoch FROM environments AS e WHERE e.id = s.environment_id), {", ".join(counts)}
        FROM subscribers AS s WHERE s.environment_id = :environment_id AND s.id = :subscriber_id
    """)


_page_query_cached = lru_cache(maxsize=256)(_page_query)
_count_query_cached = lru_cache(maxsize=256)(_count_query)


def _prefix(number: int) -> str:
    return f"f{number}_"


def inbox_message_of(
    values: Sequence[Any], owner: InboxOwner, transaction_keys: TransactionKeys | None = None
) -> InboxMessage:
    """The message of a row that begins with COLUMNS, or with COLUMNS_WITHOUT_KEY where the keys are given."""
    key = values[TRIGGER_COLUMN]
    if transaction_keys is not None:
        # Without one, retention has deleted message and trigger since the message was read.
        key = transaction_keys.get(key, "")
    seen, read, archived = values[9:12]
    delivered_at, created_at = values[16:18]
    moments = [created_at] if delivered_at is None else _decode_moments(delivered_at)
    marks = bool(seen), bool(read), bool(archived)
    return InboxMessage(*(*owner, *values[:2], key, *values[3:9], *marks, *values[12:16], moments, created_at))


def _cut_large(messages: Sequence[InboxMessage]) -> Sequence[InboxMessage]:
    """Return the messages that make up a page which is not too large, but at least one."""
    size = 0
    for number, one in enumerate(messages):
        size += len(one.content) + len(one.data or "") + len(one.cta or "")
        if size > MAX_PAGE_BYTES:
            return messages[: max(1, number)]
    return messages
