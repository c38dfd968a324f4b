"""The counts of an inbox: unread messages by severity, and unseen ones, at the same cost for any number of messages."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from clarion.contexts.model import stored_keys
from clarion.db.port import Connection
from clarion.db.query import Query, sql
from clarion.ids import EnvironmentId, SubscriberId
from clarion.vocabulary import Severity

MAX_INBOX_COUNT = 100
"""Counts end here: the inbox shows 99+ beyond it."""

_REACH = MAX_INBOX_COUNT + 1
_PACKED = _REACH + 1


def _count_severity(severity: Severity, condition: str) -> str:
    """SQL: the number of unread messages, and of unseen ones among them, in one number.

    The index has the unseen ones first, so that the rows that are read decide both counts.
    """
    return f"""
        (
            SELECT count(*) + {_PACKED} * count(CASE WHEN NOT m.seen THEN 1 END) FROM (
                SELECT seen FROM messages
                WHERE subscriber_id = s.id AND (environment_id = :environment_id) IS TRUE AND severity = '{severity}'
                AND channel = 'in_app' AND NOT read AND NOT archived AND snoozed_until IS NULL {condition}
                ORDER BY severity, seen, position LIMIT {_REACH}
            ) AS m
        ) AS {severity}
    """


def _count_people(condition: str) -> Query:
    return sql(f"""
        SELECT s.id, {", ".join(_count_severity(one, condition) for one in Severity)}
        FROM subscribers AS s WHERE s.environment_id = :environment_id AND s.id {{any:subscriber_ids}}
    """)


COUNT_INBOX = _count_people("AND context_keys IS NULL")
COUNT_INBOX_OF_CONTEXTS = _count_people("AND context_keys = :context_keys")


class InboxCounts(Struct, frozen=True, kw_only=True):
    """What the bell of one person shows. Unread is what is not read, not archived and not snoozed."""

    unread: dict[Severity, int]
    """Each up to MAX_INBOX_COUNT."""
    unseen: int
    """Of the unread ones, up to MAX_INBOX_COUNT."""
    has_more_unread: bool
    """Whether there are more unread messages than MAX_INBOX_COUNT in all."""
    has_more_unseen: bool

    @property
    def total_unread(self) -> int:
        return min(MAX_INBOX_COUNT, sum(self.unread.values()))


async def count_inbox(
    db: Connection,
    environment_id: EnvironmentId,
    subscriber_ids: Sequence[SubscriberId],
    *,
    context_keys: Sequence[str] = (),
) -> dict[SubscriberId, InboxCounts]:
    """Count the messages of several people in one statement; people who do not exist are left out.

    Only messages of exactly the given contexts are counted; without contexts, those that have none.
    """
    scope: dict[str, Any] = {"environment_id": environment_id, "subscriber_ids": list(subscriber_ids)}
    if context_keys:
        rows = await db.fetch_values(COUNT_INBOX_OF_CONTEXTS, **scope, context_keys=stored_keys(context_keys))
    else:
        rows = await db.fetch_values(COUNT_INBOX, **scope)
    return {SubscriberId(id_): _counts_of(*packed) for id_, *packed in rows}


# Cached, because most people have one of a few counts.
@lru_cache(maxsize=1024)
def _counts_of(*packed: int) -> InboxCounts:
    unread = [one % _PACKED for one in packed]
    unseen = sum(one // _PACKED for one in packed)
    return InboxCounts(
        unread={severity: min(MAX_INBOX_COUNT, found) for severity, found in zip(Severity, unread, strict=True)},
        unseen=min(MAX_INBOX_COUNT, unseen),
        has_more_unread=sum(unread) > MAX_INBOX_COUNT,
        has_more_unseen=unseen > MAX_INBOX_COUNT,
    )
