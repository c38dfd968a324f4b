"""Lists: pages by cursor (v2) and by offset (v1)."""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta

from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.errors import Invalid, Malformed
from clarion.http.wire import Wire
from clarion.ids import find_id, id_millis
from clarion.vocabulary import OrderDirection

T = TypeVar("T")
U = TypeVar("U")

COUNTED = 50_000
"""Totals of cursor pages are exact up to here, then capped."""


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

    total_count: int
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
    """A list to take pages of: what to select, from where, and under which conditions (`t` is the paged table)."""

    columns: str
    source: str
    where: str
    parameters: Mapping[str, Any]


async def list_cursor_page(
    db: Connection, listing: Listing, query: CursorQuery, render: Callable[[Row], T]
) -> CursorPage[T]:
    """One page in the requested order, with what lies on either side of it and the total."""
    cursor, backwards = read_cursor(query)
    if cursor is not None and cursor.bare and query.order_by is OrderBy.UPDATED_AT:
        cursor = await _place_cursor(db, listing, cursor)
    rows, more = await _fetch_rows(db, listing, query, cursor, backwards=backwards)
    first, last = _ends(rows, query.order_by, cursor, backwards=backwards)
    beyond = first if not backwards else last
    other_side = beyond is not None and await _has_rows(db, listing, query, beyond, backwards=not backwards)
    has_previous, has_next = (more, other_side) if backwards else (other_side, more)
    total = await count_rows(db, listing)
    return CursorPage(
        data=[render(row) for row in rows],
        next=last.encode() if last and has_next else None,
        previous=first.encode() if first and has_previous else None,
        total_count=min(total, COUNTED),
        total_count_capped=total > COUNTED,
    )


async def count_rows(db: Connection, listing: Listing, *, most: int = COUNTED + 1) -> int:
    """How many rows the listing has, counted up to `most`."""
    query = sql(
        f"SELECT count(*) AS n FROM (SELECT 1 FROM {listing.source} WHERE {listing.where} LIMIT :most) AS found"
    )
    row = await db.fetch_one(query, **listing.parameters, most=most)
    return int(row["n"]) if row else 0


async def list_offset_page(
    db: Connection, listing: Listing, *, page: int, limit: int, render: Callable[[Row], T]
) -> OffsetPage[T]:
    """One page, newest first; ids are time-ordered, so they are the order of creation."""
    query = sql(
        f"SELECT {listing.columns} FROM {listing.source} WHERE {listing.where} "
        "ORDER BY t.id DESC LIMIT :page_limit OFFSET :page_offset"
    )
    rows = await db.fetch(query, **listing.parameters, page_limit=limit, page_offset=page * limit)
    counting = sql(f"SELECT count(*) AS n FROM {listing.source} WHERE {listing.where}")
    counted = await db.fetch_one(counting, **listing.parameters)
    total = int(counted["n"]) if counted else 0
    return OffsetPage(
        total_count=total,
        has_more=page * limit + len(rows) < total,
        data=[render(row) for row in rows],
        page_size=len(rows),
        page=page,
    )


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


def _condition(query: CursorQuery, cursor: Cursor, *, backwards: bool, inclusive: bool) -> tuple[str, dict[str, Any]]:
    downwards = (query.order_direction is OrderDirection.DESC) is not backwards
    sign = ("<" if downwards else ">") + ("=" if inclusive else "")
    if query.order_by is OrderBy.ID:
        return f"t.id {sign} :cursor_id", {"cursor_id": cursor.id}
    return (
        f"(t.updated_at, t.id) {sign} (:cursor_value, :cursor_id)",
        {"cursor_value": cursor.value, "cursor_id": cursor.id},
    )


def _order(query: CursorQuery, *, backwards: bool) -> str:
    down = (query.order_direction is OrderDirection.DESC) is not backwards
    direction = "DESC" if down else "ASC"
    return f"t.id {direction}" if query.order_by is OrderBy.ID else f"t.updated_at {direction}, t.id {direction}"


async def _fetch_rows(
    db: Connection, listing: Listing, query: CursorQuery, cursor: Cursor | None, *, backwards: bool
) -> tuple[Sequence[Row], bool]:
    where, parameters = listing.where, dict(listing.parameters)
    if cursor is not None:
        inclusive = query.include_cursor or cursor.inclusive
        condition, bound = _condition(query, cursor, backwards=backwards, inclusive=inclusive)
        where, parameters = f"{where} AND {condition}", parameters | bound
    statement = sql(
        f"SELECT {listing.columns} FROM {listing.source} WHERE {where} "
        f"ORDER BY {_order(query, backwards=backwards)} LIMIT :page_limit"
    )
    rows = list(await db.fetch(statement, **parameters, page_limit=query.limit + 1))
    more = len(rows) > query.limit
    rows = rows[: query.limit]
    return (rows[::-1] if backwards else rows), more


async def _has_rows(db: Connection, listing: Listing, query: CursorQuery, cursor: Cursor, *, backwards: bool) -> bool:
    condition, bound = _condition(query, cursor, backwards=backwards, inclusive=cursor.inclusive)
    statement = sql(f"SELECT 1 AS found FROM {listing.source} WHERE {listing.where} AND {condition} LIMIT 1")
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
