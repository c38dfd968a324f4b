"""Lists: pages by cursor (v2) and by offset (v1)."""

import base64
import binascii
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from clarion.db.port import Connection, Dialect, Row
from clarion.db.query import Query, sql
from clarion.errors import Invalid, Malformed
from clarion.http.wire import Wire
from clarion.ids import find_id, id_millis
from clarion.vocabulary import OrderDirection

T = TypeVar("T")
U = TypeVar("U")

COUNTED = 50_000
"""Totals are exact up to here; then those of cursor pages are capped, and those of offset pages left out."""
DEEPEST = 100_000
"""How many rows an offset page may skip; the rows are walked, so that skipping is never free."""
EXAMINED = 2_000
"""How many rows of a longer list are looked through to count those with a text that no index finds."""
MAX_PARTS = 64
"""How many parts of a list are merged; SQLite knows no more than five hundred."""
_REMEMBERED_SECONDS = 60
_MAX_REMEMBERED = 1_000


class OrderBy(StrEnum):
    ID = "_id"
    UPDATED_AT = "updatedAt"


class CursorQuery(Wire):
    """The parameters of a cursor page; operations with another bound override `limit`."""

    after: str | None = None
    before: str | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    order_direction: OrderDirection = OrderDirection.DESC
    order_by: OrderBy = OrderBy.ID
    include_cursor: bool = False


class CursorPage(Wire, Generic[T]):
    data: list[T]
    next: str | None
    previous: str | None
    total_count: int
    total_count_capped: bool

    def with_data(self, data: "list[U]") -> "CursorPage[U]":
        """The same page, told in other words."""
        return CursorPage(**{name: getattr(self, name) for name in self.__struct_fields__} | {"data": data})


class OffsetPage(Wire, Generic[T]):
    """A page of a v1 list: `pageSize` is the number returned."""

    total_count: int | UnsetType = UNSET
    has_more: bool
    data: list[T]
    page_size: int
    page: int

    def with_data(self, data: "list[U]") -> "OffsetPage[U]":
        """The same page, told in other words."""
        return OffsetPage(**{name: getattr(self, name) for name in self.__struct_fields__} | {"data": data})


PageNumber = Annotated[int, Meta(ge=0, le=1_000_000_000)]


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a list: the sort value and id of an item, whether it still exists or not."""

    order_by: OrderBy
    value: int
    id: bytes
    inclusive: bool = False
    bare: bool = False
    """Whether the caller gave an `_id` alone, so that `value` is a guess."""

    def encode(self) -> str:
        raw = msgspec.msgpack.encode([self.order_by is OrderBy.UPDATED_AT, self.value, self.id, self.inclusive])
        return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A list to take pages of: what to select, from where, and under which conditions (`t` is the paged table).

    A list with parts is all of them together; no row is in two of them. Each is read in the order of an index and
    merged with the others, where one condition for them all would have to be sorted. What is `compared` is not found
    by an index but row by row. Rows that are few by their conditions are found and sorted, not met on the way.
    """

    columns: str
    source: str
    where: str
    parameters: Mapping[str, Any]
    parts: Sequence[str] | None = None
    compared: str | None = None
    few: bool = False

    @property
    def rows(self) -> str:
        """From where, and under which conditions."""
        return f"{self.source} WHERE {self.where}" + ("" if self.compared is None else f" AND {self.compared}")


def parts_by(column: str, values: Sequence[Any]) -> tuple[list[str], dict[str, Any]]:
    """One part of a list for each of the values, and their parameters; very many values are sorted after all."""
    if len(values) > MAX_PARTS:
        return [f"{column} {{any:part_values}}"], {"part_values": values}
    parameters = {f"part_{number}": value for number, value in enumerate(values)}
    return [f"{column} = :{name}" for name in parameters], parameters


async def list_cursor_page(
    db: Connection, listing: Listing, query: CursorQuery, render: Callable[[Row], T]
) -> CursorPage[T]:
    """One page in the requested order, with what lies on either side of it and the total."""
    cursor, backwards = read_cursor(query)
    if cursor is not None and cursor.bare and query.order_by is OrderBy.UPDATED_AT:
        cursor = await _place_cursor(db, listing, cursor)
    rows, more = await _fetch_rows(db, listing, query, cursor, backwards=backwards)
    first, last = _ends(rows, query.order_by, cursor, backwards=backwards)
    # A page that is asked for without a cursor is the first; where it is also the last, it is the whole list.
    beyond = None if cursor is None else last if backwards else first
    other_side = beyond is not None and await _has_rows(db, listing, query, beyond, backwards=not backwards)
    has_previous, has_next = (more, other_side) if backwards else (other_side, more)
    total, capped = await _count_total(db, listing) if cursor or more else (len(rows), False)
    return CursorPage(
        data=[render(row) for row in rows],
        next=last.encode() if last and has_next else None,
        previous=first.encode() if first and has_previous else None,
        total_count=total,
        total_count_capped=capped,
    )


async def count_rows(db: Connection, listing: Listing, *, limit: int) -> int:
    """How many rows the listing has, counted up to `most`."""
    row = await db.fetch_one(_counting(db.dialect, listing), **listing.parameters, reach=limit)
    return int(row["n"]) if row else 0


async def list_offset_page(
    db: Connection, listing: Listing, *, page: int, limit: int, render: Callable[[Row], T]
) -> OffsetPage[T]:
    """One page, newest first, with the total as far as it is told."""
    rows, more = await list_newest_rows(db, listing, page=page, limit=limit)
    total: int | None = page * limit + len(rows)
    # The last page tells the total by itself.
    if more or (page and not rows):
        total = await _count_whole(db, listing)
    return OffsetPage(
        total_count=UNSET if total is None else total,
        has_more=more,
        data=[render(row) for row in rows],
        page_size=len(rows),
        page=page,
    )


async def list_newest_rows(db: Connection, listing: Listing, *, page: int, limit: int) -> tuple[list[Row], bool]:
    """The rows of one page, and whether there are more; ids are time-ordered, so they are the order of creation.

    Ids are skipped and chosen in an index, and only the rows of the page itself are read.
    """
    if page * limit > DEEPEST:
        await _refuse_depth(db, listing, page)
        return [], False
    select = sql(f"{_select_ids(db.dialect, listing, 'DESC')} LIMIT :page_limit OFFSET :skipped")
    page_limit, skipped = limit + 1, page * limit
    found = await db.fetch(
        select, **listing.parameters, page_limit=page_limit, skipped=skipped, reach=skipped + page_limit
    )
    ids = [row["id"] for row in found]
    by_id = sql(
        f"SELECT {listing.columns} FROM {listing.source} WHERE t.environment_id = :environment_id AND t.id {{any:ids}}"
    )
    environment_id = listing.parameters["environment_id"]
    rows = await db.fetch(by_id, environment_id=environment_id, ids=ids[:limit]) if ids else ()
    return sorted(rows, key=lambda row: bytes(row["id"]), reverse=True), len(ids) > limit


async def _refuse_depth(db: Connection, listing: Listing, page: int) -> None:
    """A page that lies so deep is beyond the end of most lists; only in a longer one it cannot be had."""
    if await count_rows(db, listing, limit=DEEPEST + 1) > DEEPEST:
        raise Invalid.field("page", f"lies beyond the first {DEEPEST} items; narrow the list by its filters", page)


def read_cursor(query: CursorQuery) -> tuple[Cursor | None, bool]:
    """The cursor of the request, and whether the page ends at it instead of starting there."""
    if query.after and query.before:
        raise Malformed("Give either 'after' or 'before', not both")
    name, text = ("before", query.before) if query.before else ("after", query.after)
    return (_parse_cursor(name, text, query.order_by), name == "before") if text else (None, False)


def _parse_cursor(name: str, text: str, order_by: OrderBy) -> Cursor:
    plain = find_id(text)
    if plain is not None:
        return Cursor(order_by, id_millis(plain), plain, bare=True)
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        by_update, value, id_, inclusive = msgspec.msgpack.decode(raw, type=tuple[bool, int, bytes, bool])
    except (binascii.Error, ValueError, msgspec.DecodeError):
        raise Invalid.field(name, "is not a cursor of this list", text) from None
    if by_update is not (order_by is OrderBy.UPDATED_AT):
        raise Invalid.field(name, "belongs to a list in another order; keep 'orderBy' while paging", text)
    if len(id_) != 16 or not -(2**63) <= value < 2**63:
        raise Invalid.field(name, "is not a cursor of this list", text)
    return Cursor(order_by, value, id_, inclusive)


async def _place_cursor(db: Connection, listing: Listing, cursor: Cursor) -> Cursor:
    """A bare id stands where its item stands now, or where it was created if it is gone."""
    statement = sql(
        f"SELECT t.updated_at FROM {listing.source} WHERE t.environment_id = :environment_id AND t.id = :cursor_id"
    )
    row = await db.fetch_one(statement, environment_id=listing.parameters["environment_id"], cursor_id=cursor.id)
    return cursor if row is None else replace(cursor, value=row["updated_at"])


def _counting(dialect: Dialect, listing: Listing) -> Query:
    """The query that counts a list up to `:reach`."""
    # In order, so that an index is walked: a planner that expects a row soon would look for it in the whole table.
    return sql(f"SELECT count(*) AS n FROM ({_select_ids(dialect, listing, 'ASC')} LIMIT :reach) AS found")


def _select_ids(dialect: Dialect, listing: Listing, direction: str) -> str:
    """The ids of a list in order, of which `:reach` are asked for at most."""
    # A list of no parts has no rows, and is asked for them all the same.
    parts = ["TRUE"] if listing.parts is None else listing.parts or ["FALSE"]
    selects = [f"SELECT t.id AS id FROM {listing.rows} AND {one}" for one in parts]
    if dialect is Dialect.POSTGRES and len(selects) > 1:
        # SQLite merges parts that an index has in order; PostgreSQL sees that order only in a query of its own.
        selects = [f"({one} ORDER BY id {direction} LIMIT :reach)" for one in selects]
    return f"{' UNION ALL '.join(selects)} ORDER BY id {direction}"


async def _count_total(db: Connection, listing: Listing) -> tuple[int, bool]:
    """The total of a cursor list, and whether there may be more than that."""
    if listing.compared is not None:
        return await _count_compared(db, listing)
    total = await _count_whole(db, listing)
    return (COUNTED, True) if total is None else (total, False)


async def _count_whole(db: Connection, listing: Listing) -> int | None:
    """How many rows a list has; None where they are more than are counted."""
    key = _long_lists.key(_counting(db.dialect, listing), listing.parameters)
    if _long_lists.has(key):
        return None
    total = await count_rows(db, listing, limit=COUNTED + 1)
    if total <= COUNTED:
        return total
    _long_lists.add(key)
    return None


async def _count_compared(db: Connection, listing: Listing) -> tuple[int, bool]:
    """The total of a list that is compared row by row; of a very long one, what its newest rows show."""
    if await _count_whole(db, replace(listing, compared=None)) is not None:
        return await count_rows(db, listing, limit=COUNTED), False
    query = sql(f"""
        SELECT count(CASE WHEN is_held THEN 1 END) AS n FROM (
            SELECT {listing.compared} AS is_held FROM {listing.source} WHERE {listing.where}
            ORDER BY t.id DESC LIMIT :limit
        ) AS examined
    """)
    row = await db.fetch_one(query, **listing.parameters, limit=EXAMINED)
    return (int(row["n"]) if row else 0), True


class _LongLists:
    """Lists that were found to hold more than is counted: for a while they are taken to do so still."""

    def __init__(self) -> None:
        self._until: dict[object, float] = {}

    def has(self, key: object) -> bool:
        return self._until.get(key, 0) > time.monotonic()

    def add(self, key: object) -> None:
        if len(self._until) >= _MAX_REMEMBERED:
            self._until.clear()
        self._until[key] = time.monotonic() + _REMEMBERED_SECONDS

    @staticmethod
    def key(query: Query, parameters: Mapping[str, Any]) -> object:
        """What tells a list: the query that counts it, and of the parameters only those that it asks for."""
        return query.sqlite, *(str(parameters[name]) for name in query.names if name in parameters)


_long_lists = _LongLists()


def _condition(
    listing: Listing, query: CursorQuery, cursor: Cursor, *, backwards: bool, inclusive: bool
) -> tuple[str, dict[str, Any]]:
    downwards = (query.order_direction is OrderDirection.DESC) is not backwards
    sign = ("<" if downwards else ">") + ("=" if inclusive else "")
    condition, bound = f"t.id {sign} :cursor_id", dict[str, Any](cursor_id=cursor.id)
    if query.order_by is OrderBy.UPDATED_AT:
        condition = f"(t.updated_at, t.id) {sign} (:cursor_value, :cursor_id)"
        bound["cursor_value"] = cursor.value
    # In this form no index takes the condition for a place to start from.
    return (f"({condition}) IS TRUE" if listing.few else condition), bound


def _order(query: CursorQuery, *, backwards: bool) -> str:
    down = (query.order_direction is OrderDirection.DESC) is not backwards
    direction = "DESC" if down else "ASC"
    return f"t.id {direction}" if query.order_by is OrderBy.ID else f"t.updated_at {direction}, t.id {direction}"


async def _fetch_rows(
    db: Connection, listing: Listing, query: CursorQuery, cursor: Cursor | None, *, backwards: bool
) -> tuple[Sequence[Row], bool]:
    rows_of, parameters = listing.rows, dict(listing.parameters)
    if cursor is not None:
        inclusive = query.include_cursor or cursor.inclusive
        condition, bound = _condition(listing, query, cursor, backwards=backwards, inclusive=inclusive)
        rows_of, parameters = f"{rows_of} AND {condition}", parameters | bound
    statement = sql(
        f"SELECT {listing.columns} FROM {rows_of} ORDER BY {_order(query, backwards=backwards)} LIMIT :page_limit"
    )
    rows = list(await db.fetch(statement, **parameters, page_limit=query.limit + 1))
    more = len(rows) > query.limit
    rows = rows[: query.limit]
    return (rows[::-1] if backwards else rows), more


async def _has_rows(db: Connection, listing: Listing, query: CursorQuery, cursor: Cursor, *, backwards: bool) -> bool:
    condition, bound = _condition(listing, query, cursor, backwards=backwards, inclusive=cursor.inclusive)
    statement = sql(
        f"SELECT 1 AS found FROM {listing.rows} AND {condition} ORDER BY {_order(query, backwards=backwards)} LIMIT 1"
    )
    return await db.fetch_one(statement, **listing.parameters, **bound) is not None


def _ends(
    rows: Sequence[Row], order_by: OrderBy, cursor: Cursor | None, *, backwards: bool
) -> tuple[Cursor | None, Cursor | None]:
    """Cursors of the first and the last row; an empty page is bounded by the cursor it was asked with."""
    if rows:
        return _cursor_of(rows[0], order_by), _cursor_of(rows[-1], order_by)
    if cursor is None:
        return None, None
    # The way back from beyond the end starts with the cursor's own item.
    edge = replace(cursor, inclusive=True)
    return (None, edge) if backwards else (edge, None)


def _cursor_of(row: Row, order_by: OrderBy) -> Cursor:
    return Cursor(order_by, row["updated_at"] if order_by is OrderBy.UPDATED_AT else 0, row["id"])
