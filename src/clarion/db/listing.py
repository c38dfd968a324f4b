"""Long lists, read one page at a time: the SQL of a page, positions between rows, and totals."""

import time
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clarion.cache import CacheSlot
from clarion.db.port import Connection, Dialect, Row
from clarion.db.query import Query, sql
from clarion.ids import id_millis
from clarion.vocabulary import OrderBy, OrderDirection

MAX_COUNT = 50_000
"""Totals are exact up to this number of rows; longer lists are not counted to their end."""
SAMPLE_ROWS = 2_000
"""In a list that is too long to count, the unindexed condition is evaluated for this many of the newest rows."""
MAX_PARTS = 64
"""How many parts of a list are merged; SQLite allows at most five hundred."""
MAX_PAGE_BYTES = 4 * 1024 * 1024
"""How much a page has at most; a page of heavier rows has fewer rows than were asked for, but at least one."""
_LONG_LIST_SECONDS = 60
_LONG_LISTS: CacheSlot[tuple[str, ...], float] = CacheSlot(limit=1_000)
"""Lists that were found to be longer than MAX_COUNT, and until when they are not counted again."""


class Listing(Struct, frozen=True, kw_only=True):
    """A list to read pages of: the columns, the tables and the conditions. `t` is the table that is paged."""

    columns: str
    source: str
    where: str
    parameters: Mapping[str, Any]
    sort_column: str = "id"
    """The column of time-ordered ids by which offset pages are sorted."""
    parts: Sequence[str] | None = None
    """Conditions that split the list into disjoint parts.

    Each part is read in the order of an index and merged with the others. A single condition for all of them would
    have to be sorted.
    """
    unindexed: str | None = None
    """A condition that no index supports: it is evaluated row by row."""
    is_selective: bool = False
    """Whether the conditions match few rows: these are fetched and sorted, instead of found by walking in order."""

    weight: str | None = None
    """How many bytes a row takes in the response; None: too few to limit a page."""
    unweighed_limit: int = 10
    """Pages of up to this many rows are read without weighing them."""

    @property
    def from_where(self) -> str:
        """The tables and all conditions."""
        return f"{self.source} WHERE {self.where}" + ("" if self.unindexed is None else f" AND {self.unindexed}")


class CursorPosition(Struct, frozen=True, kw_only=True):
    """A position in a list, given by the sort value and the id of a row, even if that row is deleted by now."""

    id: bytes
    value: int | None = None
    """The sort value, unless the list is sorted by id. None: not known yet, to be read from the row."""
    is_inclusive: bool = False
    """Whether a page that starts or ends here includes the row itself."""


class PageRequest(Struct, frozen=True, kw_only=True):
    """Which rows of a list make up a page."""

    order_by: OrderBy
    direction: OrderDirection
    limit: int
    position: CursorPosition | None = None
    """Where the page starts; None: at the beginning of the list."""
    is_backwards: bool = False
    """Whether the page ends at the position instead of starting there."""

    @property
    def is_descending(self) -> bool:
        """Whether rows are read in descending order, which reading backwards inverts."""
        return (self.direction is OrderDirection.DESC) is not self.is_backwards


class RowPage(Struct, frozen=True, kw_only=True):
    """The rows of a page, with the positions that the neighbouring pages continue from, where there are any."""

    rows: Sequence[Row]
    previous: CursorPosition | None
    next: CursorPosition | None
    total: int
    is_total_capped: bool
    """Whether the list may be longer than `total`."""


class NewestRows(Struct, frozen=True, kw_only=True):
    """The rows of an offset page."""

    rows: Sequence[Row]
    has_more: bool
    skipped: int
    """How many rows come before the page."""


def add_lengths(*columns: str) -> str:
    """The SQL of the number of bytes in text columns, which are not read for that."""
    return " + ".join(f"coalesce(octet_length({column}), 0)" for column in columns)


def split_by_values(column: str, values: Sequence[Any]) -> tuple[list[str], dict[str, Any]]:
    """One part of a list for each value, and the parameters; too many values make one part, which is sorted."""
    if len(values) > MAX_PARTS:
        return [f"{column} {{any:part_values}}"], {"part_values": values}
    parameters = {f"part_{number}": value for number, value in enumerate(values)}
    return [f"{column} = :{name}" for name in parameters], parameters


async def fetch_page(db: Connection, listing: Listing, request: PageRequest) -> RowPage:
    """Read the rows of a page, check whether there are rows before and after it, and count the list."""
    request = await _complete_position(db, listing, request)
    rows, has_more = await _fetch_rows(db, listing, request)
    first, last = _find_ends(rows, request)
    # A page without a position is the first one; if nothing follows it, it is the whole list.
    edge = None if request.position is None else last if request.is_backwards else first
    has_more_behind = edge is not None and await _has_rows_behind(db, listing, request, edge)
    has_previous, has_next = (has_more, has_more_behind) if request.is_backwards else (has_more_behind, has_more)
    is_whole = request.position is None and not has_more
    total, is_capped = (len(rows), False) if is_whole else await _count_total(db, listing)
    return RowPage(
        rows=rows,
        previous=first if has_previous else None,
        next=last if has_next else None,
        total=total,
        is_total_capped=is_capped,
    )


async def fetch_newest_rows(db: Connection, listing: Listing, *, page: int, limit: int) -> NewestRows:
    """The rows of a page, newest first.

    Ids are time-ordered, so rows are sorted by creation. An index gives the ids, the skipped ones included, and only
    the rows of the page itself are read.
    """
    skipped, limit = await _fit_offset_page(db, listing, page, limit)
    select = sql(f"{select_ids(db.dialect, listing, 'DESC')} LIMIT :page_limit OFFSET :skipped")
    reach = skipped + limit + 1
    found = await db.fetch(select, **listing.parameters, page_limit=limit + 1, skipped=skipped, reach=reach)
    ids = [row["id"] for row in found]
    select_rows = sql(
        f"SELECT {listing.columns} FROM {listing.source} WHERE t.environment_id = :environment_id AND t.id {{any:ids}}"
    )
    environment_id = listing.parameters["environment_id"]
    rows = await db.fetch(select_rows, environment_id=environment_id, ids=ids[:limit]) if ids else ()
    by_id = {bytes(row["id"]): row for row in rows}
    newest = [by_id[one] for one in map(bytes, ids[:limit]) if one in by_id]
    return NewestRows(rows=newest, has_more=len(ids) > limit, skipped=skipped)


async def _fit_offset_page(db: Connection, listing: Listing, page: int, limit: int) -> tuple[int, int]:
    """How many rows come before a page and how many it has, so that no page is too large.

    A page begins where the one before it ended, so that whoever asks for one page after the other gets every row.
    """
    if listing.weight is None or limit <= listing.unweighed_limit:
        return page * limit, limit
    source = f"""
        ({select_ids(db.dialect, listing, "DESC")} LIMIT :reach) AS found
        JOIN {listing.source} ON t.environment_id = :environment_id AND t.id = found.id
    """
    parameters = {**listing.parameters, "reach": (page + 1) * limit}
    heaviest = await db.fetch_one(sql(f"SELECT max({listing.weight}) AS weight FROM {source}"), **parameters)
    if heaviest is None or (heaviest["weight"] or 0) * limit <= MAX_PAGE_BYTES:
        return page * limit, limit
    weigh = sql(f"SELECT {listing.weight} AS weight FROM {source} ORDER BY found.{listing.sort_column} DESC")
    weights = [int(row["weight"]) for row in await db.fetch(weigh, **parameters)]
    skipped = 0
    for _ in range(page):
        skipped += _count_fitting(weights[skipped : skipped + limit])
    return skipped, _count_fitting(weights[skipped : skipped + limit]) or limit


def _count_fitting(weights: Sequence[int]) -> int:
    """How many of the rows make up a page that is not too large: all of them, or as many as fit and at least one."""
    fitting = sum(total <= MAX_PAGE_BYTES for total in accumulate(weights))
    return min(len(weights), max(1, fitting))


async def count_rows(db: Connection, listing: Listing, *, limit: int) -> int:
    """How many rows the list has, counted up to `limit`."""
    row = await db.fetch_one(_count_query(db.dialect, listing), **listing.parameters, reach=limit)
    return int(row["n"]) if row else 0


async def count_all_rows(db: Connection, listing: Listing) -> int | None:
    """How many rows the list has; None if there are more than MAX_COUNT."""
    key = _cache_key(_count_query(db.dialect, listing), listing.parameters)
    long_lists = db.caches.of(_LONG_LISTS)
    if (long_lists.get(key) or 0) > time.monotonic():
        return None
    total = await count_rows(db, listing, limit=MAX_COUNT + 1)
    if total <= MAX_COUNT:
        return total
    long_lists.put(key, time.monotonic() + _LONG_LIST_SECONDS)
    return None


def _cache_key(query: Query, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """What identifies a list: the query that counts it, with the values of that query's own parameters."""
    return query.sqlite, *(str(parameters[name]) for name in query.names if name in parameters)


async def _count_total(db: Connection, listing: Listing) -> tuple[int, bool]:
    """The total, and whether there may be more rows than that."""
    if listing.unindexed is not None:
        return await _count_unindexed(db, listing)
    total = await count_all_rows(db, listing)
    return (MAX_COUNT, True) if total is None else (total, False)


async def _count_unindexed(db: Connection, listing: Listing) -> tuple[int, bool]:
    """Count row by row; in a very long list, only among its newest rows."""
    if await count_all_rows(db, replace(listing, unindexed=None)) is not None:
        return await count_rows(db, listing, limit=MAX_COUNT), False
    query = sql(f"""
        SELECT count(CASE WHEN is_match THEN 1 END) AS n FROM (
            SELECT {listing.unindexed} AS is_match FROM {listing.source} WHERE {listing.where}
            ORDER BY t.id DESC LIMIT :limit
        ) AS sample
    """)
    row = await db.fetch_one(query, **listing.parameters, limit=SAMPLE_ROWS)
    return (int(row["n"]) if row else 0), True


def _count_query(dialect: Dialect, listing: Listing) -> Query:
    """The query that counts a list up to `:reach`."""
    # Sorted, so that an index is walked: a planner that expects a match soon would search the whole table.
    return sql(f"SELECT count(*) AS n FROM ({select_ids(dialect, listing, 'ASC')} LIMIT :reach) AS found")


def select_ids(dialect: Dialect, listing: Listing, direction: str) -> str:
    """Selects the ids of a list in order; the caller reads at most `:reach` of them."""
    # A list of no parts is empty, but its query still has to be valid.
    parts = ["TRUE"] if listing.parts is None else listing.parts or ["FALSE"]
    by = listing.sort_column
    columns = "t.id AS id" if by == "id" else f"t.id AS id, t.{by} AS {by}"
    selects = [f"SELECT {columns} FROM {listing.from_where} AND {one}" for one in parts]
    if dialect is Dialect.POSTGRES and len(selects) > 1:
        # SQLite merges parts that an index returns in order; PostgreSQL does so only for sorted subqueries.
        selects = [f"({one} ORDER BY {by} {direction} LIMIT :reach)" for one in selects]
    return f"{' UNION ALL '.join(selects)} ORDER BY {by} {direction}"


async def _complete_position(db: Connection, listing: Listing, request: PageRequest) -> PageRequest:
    """Look up the sort value of a position that has only an id; a deleted row counts as not updated since creation."""
    position = request.position
    if position is None or position.value is not None or request.order_by is OrderBy.ID:
        return request
    statement = sql(
        f"SELECT t.updated_at FROM {listing.source} WHERE t.environment_id = :environment_id AND t.id = :cursor_id"
    )
    row = await db.fetch_one(statement, environment_id=listing.parameters["environment_id"], cursor_id=position.id)
    value = id_millis(position.id) if row is None else row["updated_at"]
    return replace(request, position=replace(position, value=value))


async def _fetch_rows(db: Connection, listing: Listing, request: PageRequest) -> tuple[Sequence[Row], bool]:
    """The rows of the page in list order, and whether there are more in the direction of reading."""
    source, parameters = listing.from_where, dict(listing.parameters)
    if request.position is not None:
        condition, bound = _build_condition(listing, request, request.position)
        source, parameters = f"{source} AND {condition}", parameters | bound
    ordered, limit = f"FROM {source} ORDER BY {_build_order(request)} LIMIT :page_limit", request.limit
    if listing.weight is not None and limit > listing.unweighed_limit:
        weights = await db.fetch(sql(f"SELECT {listing.weight} AS weight {ordered}"), **parameters, page_limit=limit)
        limit = _count_fitting([int(row["weight"]) for row in weights]) or limit
    rows = list(await db.fetch(sql(f"SELECT {listing.columns} {ordered}"), **parameters, page_limit=limit + 1))
    has_more = len(rows) > limit
    rows = rows[:limit]
    return (rows[::-1] if request.is_backwards else rows), has_more


async def _has_rows_behind(db: Connection, listing: Listing, request: PageRequest, edge: CursorPosition) -> bool:
    """Whether there are rows beyond the edge of the page that reading started from."""
    behind = replace(request, is_backwards=not request.is_backwards)
    condition, bound = _build_condition(listing, behind, edge)
    statement = sql(
        f"SELECT 1 AS found FROM {listing.from_where} AND {condition} ORDER BY {_build_order(behind)} LIMIT 1"
    )
    return await db.fetch_one(statement, **listing.parameters, **bound) is not None


def _build_condition(listing: Listing, request: PageRequest, position: CursorPosition) -> tuple[str, dict[str, Any]]:
    sign = ("<" if request.is_descending else ">") + ("=" if position.is_inclusive else "")
    condition, bound = f"t.id {sign} :cursor_id", dict[str, Any](cursor_id=position.id)
    if request.order_by is OrderBy.UPDATED_AT:
        condition = f"(t.updated_at, t.id) {sign} (:cursor_value, :cursor_id)"
        bound["cursor_value"] = position.value
    # IS TRUE keeps the planner from walking the index of the order.
    return (f"({condition}) IS TRUE" if listing.is_selective else condition), bound


def _build_order(request: PageRequest) -> str:
    direction = "DESC" if request.is_descending else "ASC"
    return f"t.id {direction}" if request.order_by is OrderBy.ID else f"t.updated_at {direction}, t.id {direction}"


def _find_ends(rows: Sequence[Row], request: PageRequest) -> tuple[CursorPosition | None, CursorPosition | None]:
    """The positions of the first and the last row; an empty page is bounded by the position it was read from."""
    if rows:
        return _position_of(rows[0], request.order_by), _position_of(rows[-1], request.order_by)
    if request.position is None:
        return None, None
    # The way back from beyond the end starts with the row of the position itself.
    edge = replace(request.position, is_inclusive=True)
    return (None, edge) if request.is_backwards else (edge, None)


def _position_of(row: Row, order_by: OrderBy) -> CursorPosition:
    return CursorPosition(id=row["id"], value=row["updated_at"] if order_by is OrderBy.UPDATED_AT else None)
