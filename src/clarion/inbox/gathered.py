"""What open inboxes ask for again and again: counts and the first page, of many people in one statement of PostgreSQL.

A statement costs the server and this process several times as much as the few rows that one inbox wants. So requests
that arrive while a statement runs are answered together by the next one.
"""

from collections import defaultdict
from collections.abc import Callable, Coroutine, Hashable, Mapping, Sequence
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from clarion.batching import Batch, Batcher
from clarion.cache import BoundedCache
from clarion.db.port import Connection, Database, Dialect
from clarion.db.query import Query, sql
from clarion.ids import EnvironmentId, TransactionKey, TriggerId, WorkflowId
from clarion.inbox.conditions import Extent, count_text, describe_filter, page_text
from clarion.inbox.filters import InboxFilter
from clarion.inbox.listing import (
    COLUMN_COUNT,
    COLUMNS_WITHOUT_KEY,
    STORED_COLUMNS,
    TRIGGER_COLUMN,
    FilterCounts,
    InboxPage,
    TransactionKeys,
    filter_counts_of,
    make_page,
)
from clarion.inbox.wire import RECIPIENT_JSON, RecipientOut, recipient_of
from clarion.messages.model import InboxOwner
from clarion.triggers.transactions import list_transaction_keys
from clarion.workflows.listing import WorkflowSummary, list_summaries

_MAX_GATHERED_ROWS = 200
"""How many messages a statement reads for pages of several people; all of them are in memory at once."""
_KINDS = 200
"""How many different requests are gathered at once: more than the inboxes of a few products make."""

_OWNER = ("s.environment_id", "s.id")
# In subqueries, because PostgreSQL would make a new plan for each length of an array that it sees.
_PEOPLE = """
    FROM unnest((SELECT :environment_ids::uuid[]), (SELECT :subscriber_ids::uuid[]))
        WITH ORDINALITY AS given (environment_id, id, number)
    JOIN subscribers AS s ON s.environment_id = given.environment_id AND s.id = given.id
    JOIN environments AS e ON e.id = s.environment_id
"""
# A row for the person, and then one for each message: the data of a person may be large.
_PARTS = "(VALUES (TRUE), (FALSE)) AS part (is_person)"
# Where a row has these, after the columns of a message.
_POSITION, _NUMBER, _RECIPIENT = COLUMN_COUNT, COLUMN_COUNT + 1, COLUMN_COUNT + 4


T = TypeVar("T")
ReadPeople: TypeAlias = Callable[[Connection, Sequence[InboxOwner]], Coroutine[Any, Any, dict[int, T]]]
"""Returns what was read by the number of the person, from 1; those who do not exist are left out."""


class OpenedInbox(Struct, frozen=True, kw_only=True):
    """The first page of an inbox, with everything that is shown with it."""

    page: InboxPage
    to: RecipientOut
    workflows: dict[WorkflowId, WorkflowSummary]
    session_epoch: int
    """Of the environment, when the page was read."""


class GatheredReads:
    """Reads counts and first pages, on PostgreSQL for many people at once."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._batchers: BoundedCache[Hashable, Batcher[InboxOwner]] = BoundedCache(limit=_KINDS)

    def can_gather(self, *filters: InboxFilter) -> bool:
        """Whether these filters are the same SQL for everyone. SQLite has nothing to gain: a statement costs little."""
        return self._database.dialect is Dialect.POSTGRES and all(one.is_light for one in filters)

    async def count(self, owner: InboxOwner, filters: tuple[InboxFilter, ...]) -> FilterCounts | None:
        """Count the messages that fit each filter; None if the person does not exist."""
        batcher = self._batchers.get(filters)
        if batcher is None:
            batcher = Batcher(partial(self._read, partial(count_of_people, filters=filters)))
            self._batchers.put(filters, batcher)
        found: FilterCounts | None = await batcher.submit(owner)
        return found

    async def open(self, owner: InboxOwner, wanted: InboxFilter, limit: int) -> OpenedInbox | None:
        """Read the first page; None if the person does not exist."""
        batcher = self._batchers.get((wanted, limit))
        if batcher is None:
            read = partial(first_pages_of_people, wanted=wanted, limit=limit)
            batcher = Batcher(partial(self._read, read), limit=max(1, _MAX_GATHERED_ROWS // (limit + 1)))
            self._batchers.put((wanted, limit), batcher)
        found: OpenedInbox | None = await batcher.submit(owner)
        return found

    async def _read(self, read: ReadPeople[T], batch: Batch[InboxOwner]) -> list[T | None]:
        # The batch is closed when there is a connection, so it includes what arrived while waiting for one.
        found = await self._database.read(lambda db: read(db, batch.take()))
        return [found.get(number) for number in range(1, len(batch.take()) + 1)]


async def count_of_people(
    db: Connection, people: Sequence[InboxOwner], *, filters: tuple[InboxFilter, ...]
) -> dict[int, FilterCounts]:
    """Count the messages of each person that fit each of these light filters."""
    rows = await db.fetch_values(count_query(filters), **_arrays(people))
    return {row[0]: filter_counts_of(row[1:]) for row in rows}


async def first_pages_of_people(
    db: Connection, people: Sequence[InboxOwner], *, wanted: InboxFilter, limit: int
) -> dict[int, OpenedInbox]:
    """Read the first page of each person's messages that fit this light filter."""
    rows = await db.fetch_values(first_page_query(wanted, limit), **_arrays(people))
    people_rows: list[Sequence[Any]] = []
    message_rows: defaultdict[int, list[Sequence[Any]]] = defaultdict(list)
    for row in rows:
        if row[_RECIPIENT] is not None:
            people_rows.append(row)
        elif row[_POSITION] is not None:
            message_rows[row[_NUMBER]].append(row)
    keys = await _list_transaction_keys(db, people, message_rows)
    return {
        (number := row[_NUMBER]): await _opened_inbox_of(db, people[number - 1], row, message_rows[number], limit, keys)
        for row in people_rows
    }


@lru_cache(maxsize=_KINDS)
def count_query(filters: tuple[InboxFilter, ...]) -> Query:
    counts = [count_text(one, one.of_person(*_OWNER)) for one in map(describe_filter, filters)]
    return sql(f"SELECT given.number, e.session_epoch, {', '.join(counts)} {_PEOPLE}")


@lru_cache(maxsize=_KINDS)
def first_page_query(wanted: InboxFilter, limit: int) -> Query:
    conditions = describe_filter(wanted, is_ordered=True)
    page = page_text(
        Dialect.POSTGRES,
        conditions,
        Extent(limit + 1),
        of_person=f"{conditions.of_person(*_OWNER)} AND NOT part.is_person",
        # An earlier version that still runs beside this one writes no position.
        columns=f"{COLUMNS_WITHOUT_KEY}, COALESCE(t.position, t.id)",
        stored=STORED_COLUMNS,
    )
    return sql(f"""
        SELECT
            m.*, given.number, e.session_epoch, e.configuration_version,
            CASE WHEN part.is_person THEN {RECIPIENT_JSON} END
        {_PEOPLE} CROSS JOIN {_PARTS} LEFT JOIN LATERAL ({page}) AS m ON TRUE
    """)


async def _list_transaction_keys(
    db: Connection, people: Sequence[InboxOwner], messages: Mapping[int, Sequence[Sequence[Any]]]
) -> TransactionKeys:
    """The keys of the triggers of all messages. Most are known, because inboxes show the same messages often.

    Looking up each in the statement of the page takes half of its time.
    """
    by_environment: defaultdict[EnvironmentId, set[TriggerId]] = defaultdict(set)
    for number, rows in messages.items():
        by_environment[people[number - 1].environment_id].update([row[TRIGGER_COLUMN] for row in rows])
    keys: dict[TriggerId, TransactionKey] = {}
    for environment_id, ids in by_environment.items():
        keys |= await list_transaction_keys(db, environment_id, ids)
    return keys


async def _opened_inbox_of(
    db: Connection,
    owner: InboxOwner,
    person: Sequence[Any],
    messages: list[Sequence[Any]],
    limit: int,
    keys: TransactionKeys,
) -> OpenedInbox:
    session_epoch, version, recipient = person[_NUMBER + 1 :]
    messages.sort(key=itemgetter(_POSITION), reverse=True)
    page = make_page(messages, owner, limit, configuration_version=version, transaction_keys=keys)
    workflow_ids = [one.workflow_id for one in page.messages]
    return OpenedInbox(
        page=page,
        to=recipient_of(recipient),
        workflows=await list_summaries(db, owner.environment_id, workflow_ids, version),
        session_epoch=session_epoch,
    )


def _arrays(people: Sequence[InboxOwner]) -> dict[str, Any]:
    environment_ids, subscriber_ids = zip(*people, strict=True)
    return {"environment_ids": environment_ids, "subscriber_ids": subscriber_ids}
