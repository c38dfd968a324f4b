"""Pages of lists on the wire: by cursor (v2) and by offset (v1)."""

import base64
import binascii
from collections.abc import Callable
from typing import Annotated, Generic, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from clarion.db.listing import (
    CursorPosition,
    Listing,
    NewestRows,
    PageRequest,
    count_all_rows,
    count_rows,
    fetch_newest_rows,
    fetch_page,
)
from clarion.db.port import Connection, Row
from clarion.errors import Invalid, Malformed
from clarion.http.wire import Wire
from clarion.ids import find_id
from clarion.vocabulary import OrderBy, OrderDirection

T = TypeVar("T")
U = TypeVar("U")

MAX_OFFSET = 100_000
"""How many rows an offset page may skip; the database reads the skipped ids, so skipping is never free."""


class CursorQuery(Wire):
    """The parameters of a cursor page; operations with another bound override `limit`."""

    after: str | None = None
    """A cursor: the `next` of the page before, or the `_id` of an item. The page begins behind it. Not together with
    `before`."""
    before: str | None = None
    """A cursor: the `previous` of the page behind, or the `_id` of an item. The page ends before it. Not together with
    `after`."""
    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    order_direction: OrderDirection = OrderDirection.DESC
    order_by: OrderBy = OrderBy.ID
    """What the list is sorted by; keep it while you page."""
    include_cursor: bool = False
    """Whether the item of the cursor is a part of the page."""


class CursorPage(Wire, Generic[T]):
    data: list[T]
    next: str | None
    previous: str | None
    """The cursor of the page before, for `before`; null on the first one."""
    total_count: int
    """How many items match in all; counting may stop early, see `totalCountCapped`."""
    total_count_capped: bool
    """Whether there are more items than `totalCount` says."""

    def with_data(self, data: "list[U]") -> "CursorPage[U]":
        """The same page with its items in another shape."""
        return CursorPage(**{name: getattr(self, name) for name in self.__struct_fields__} | {"data": data})


class OffsetPage(Wire, Generic[T]):
    """A page of a v1 list: `pageSize` is the number returned, which is less than asked for if items are large."""

    total_count: int | UnsetType = UNSET
    """How many items match in all; absent if there are too many to count."""
    has_more: bool
    """Whether there is another page."""
    data: list[T]
    page_size: int
    page: int

    def with_data(self, data: "list[U]") -> "OffsetPage[U]":
        """The same page with its items in another shape."""
        return OffsetPage(**{name: getattr(self, name) for name in self.__struct_fields__} | {"data": data})


PageNumber = Annotated[int, Meta(ge=0, le=1_000_000_000)]


async def list_cursor_page(
    db: Connection, listing: Listing, query: CursorQuery, render: Callable[[Row], T]
) -> CursorPage[T]:
    """One page in the requested order, with cursors to its neighbours and the total."""
    page = await fetch_page(db, listing, read_page_request(query))
    return CursorPage(
        data=[render(row) for row in page.rows],
        next=encode_cursor(page.next, query.order_by) if page.next else None,
        previous=encode_cursor(page.previous, query.order_by) if page.previous else None,
        total_count=page.total,
        total_count_capped=page.is_total_capped,
    )


async def list_offset_page(
    db: Connection, listing: Listing, *, page: int, limit: int, render: Callable[[Row], T]
) -> OffsetPage[T]:
    """One page, newest first, with the total unless the list is too long to count."""
    newest = await list_newest_rows(db, listing, page=page, limit=limit)
    total: int | None = newest.skipped + len(newest.rows)
    # The last page gives the total away; the others, and those beyond the end, need a count.
    if newest.has_more or (page and not newest.rows):
        total = await count_all_rows(db, listing)
    return OffsetPage(
        total_count=UNSET if total is None else total,
        has_more=newest.has_more,
        data=[render(row) for row in newest.rows],
        page_size=len(newest.rows),
        page=page,
    )


async def list_newest_rows(db: Connection, listing: Listing, *, page: int, limit: int) -> NewestRows:
    """The rows of one page, newest first; refuses a page too deep in a long list."""
    if page * limit <= MAX_OFFSET:
        return await fetch_newest_rows(db, listing, page=page, limit=limit)
    # Most lists end before MAX_OFFSET, and pages beyond the end of a list are empty.
    if await count_rows(db, listing, limit=MAX_OFFSET + 1) > MAX_OFFSET:
        raise Invalid.field("page", f"lies beyond the first {MAX_OFFSET} items; narrow the list by its filters", page)
    return NewestRows(rows=(), has_more=False, skipped=page * limit)


def read_page_request(query: CursorQuery) -> PageRequest:
    """Which rows a query asks for; raises if a cursor is not valid."""
    if query.after and query.before:
        raise Malformed("Give either 'after' or 'before', not both")
    name, text = ("before", query.before) if query.before else ("after", query.after)
    position = _parse_cursor(name, text, query.order_by) if text else None
    if position is not None and query.include_cursor:
        position = msgspec.structs.replace(position, is_inclusive=True)
    return PageRequest(
        order_by=query.order_by,
        direction=query.order_direction,
        limit=query.limit,
        position=position,
        is_backwards=bool(query.before),
    )


def encode_cursor(position: CursorPosition, order_by: OrderBy) -> str:
    """A position as an opaque text, which also names the order that it is valid for."""
    content = [order_by is OrderBy.UPDATED_AT, position.value or 0, position.id, position.is_inclusive]
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(content)).rstrip(b"=").decode()


def _parse_cursor(name: str, text: str, order_by: OrderBy) -> CursorPosition:
    """The position of a cursor, or of a plain `_id`, which callers may give instead."""
    plain_id = find_id(text)
    if plain_id is not None:
        return CursorPosition(id=plain_id)
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        by_update, value, id_, is_inclusive = msgspec.msgpack.decode(raw, type=tuple[bool, int, bytes, bool])
    except (binascii.Error, ValueError, msgspec.DecodeError):
        raise Invalid.field(name, "is not a cursor of this list", text) from None
    if by_update is not (order_by is OrderBy.UPDATED_AT):
        raise Invalid.field(name, "belongs to a list in another order; keep 'orderBy' while paging", text)
    if len(id_) != 16 or not -(2**63) <= value < 2**63:
        raise Invalid.field(name, "is not a cursor of this list", text)
    return CursorPosition(id=id_, value=value, is_inclusive=is_inclusive)
