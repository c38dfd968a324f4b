"""Export of a person's data, a page at a time: no page is larger than the memory that it may take."""

import base64
import binascii
from itertools import accumulate
from typing import Annotated, Any, Self

import msgspec
from msgspec import Meta, Struct

from clarion.clock import iso_text
from clarion.db.listing import MAX_PAGE_BYTES
from clarion.db.port import Connection, Row
from clarion.errors import Invalid
from clarion.http.wire import Wire
from clarion.ids import id_text
from clarion.jsontext import json_value
from clarion.sending.suppressions.model import list_address_forms
from clarion.subscribers.model import Subscriber
from clarion.subscribers.personal_data.tables import EXPORTED, ItemKind, PersonTable
from clarion.vocabulary import Channel

MAX_ITEMS = 1_000

_NAMES = {"id": "_id", "key": "subscriberId", "transaction_key": "transactionId"}
_MOMENTS = ("_at", "_until", "_since")


class ExportPosition(Struct, frozen=True, array_like=True):
    """How far an export has come: the table, and the keys of the last row in it."""

    table: int = 0
    keys: tuple[Any, ...] = ()


class ExportQuery(Wire):
    after: str | None = None
    """The `next` of the page before."""
    limit: Annotated[int, Meta(ge=1, le=MAX_ITEMS)] = 500


class ExportItemOut(Wire):
    """One thing that is stored of a person."""

    kind: ItemKind
    """What kind of thing it is."""
    data: dict[str, Any]
    """What is stored, without members that have no value."""


class ExportPage(Struct, frozen=True):
    items: list[ExportItemOut]
    next: ExportPosition | None


class ExportOut(Wire):
    """A page of an export; `next` is null on the last one."""

    data: list[ExportItemOut]
    next: str | None

    @classmethod
    def of(cls, page: ExportPage) -> Self:
        following = None if page.next is None else encode_position(page.next)
        return cls(data=page.items, next=following)


async def read_page(db: Connection, person: Subscriber, position: ExportPosition, *, limit: int) -> ExportPage:
    """Read up to `limit` items, and fewer if they are large."""
    items: list[ExportItemOut] = []
    room = MAX_PAGE_BYTES
    while position.table < len(EXPORTED) and len(items) < limit:
        table = EXPORTED[position.table]
        bound = _bind(person, table, position)
        wanted = limit - len(items)
        found = await db.fetch(_choose(table.first_weights, table.next_weights, position), **bound, limit=wanted)
        weights = [int(row["weight"]) for row in found]
        fitting = sum(total <= room for total in accumulate(weights))
        if weights and not fitting:
            if items:
                break
            fitting = 1  # a page has at least one item
        rows = await db.fetch(_choose(table.first_rows, table.next_rows, position), **bound, limit=fitting or 1)
        items += [ExportItemOut(kind=table.kind, data=_render(table, row)) for row in rows]
        room -= sum(weights[:fitting])
        if fitting < len(weights) or len(weights) == wanted:
            position = ExportPosition(position.table, _keys_of(table, rows[-1]))
        else:
            position = ExportPosition(position.table + 1)
    return ExportPage(items, position if position.table < len(EXPORTED) else None)


def encode_position(position: ExportPosition) -> str:
    """Return a position as an opaque text."""
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(position)).rstrip(b"=").decode()


def parse_position(text: str) -> ExportPosition:
    """Read what `encode_position` returned; raises Invalid for `after` if it is something else."""
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        position = msgspec.msgpack.decode(raw, type=ExportPosition)
    except (binascii.Error, ValueError, msgspec.DecodeError):
        raise Invalid.field("after", "is not a cursor of this export", text) from None
    if not 0 <= position.table < len(EXPORTED) or not _fits(EXPORTED[position.table], position.keys):
        raise Invalid.field("after", "is not a cursor of this export", text)
    return position


def list_addresses(person: Subscriber) -> list[str]:
    """Return the addresses of a person in all forms in which suppressions have them."""
    given = ((Channel.EMAIL, person.email), (Channel.SMS, person.phone))
    forms = [list_address_forms(person.environment_id, channel, text) for channel, text in given if text]
    return [one for own in forms for one in own]


def _choose(first: Any, following: Any, position: ExportPosition) -> Any:
    return following if position.keys else first


def _bind(person: Subscriber, table: PersonTable, position: ExportPosition) -> dict[str, Any]:
    bound: dict[str, Any] = {"environment_id": person.environment_id}
    if table.name == "suppressions":
        bound["addresses"] = list_addresses(person)
    else:
        bound["subscriber_id"] = person.id
    keys = zip(table.keys, position.keys, strict=False)
    # PostgreSQL has booleans and SQLite numbers.
    return bound | {
        f"key_{number}": bool(value) if name in table.flags else value for number, (name, value) in enumerate(keys)
    }


def _keys_of(table: PersonTable, row: Row) -> tuple[Any, ...]:
    return tuple(row[f"key_{number}"] for number in range(len(table.keys)))


def _fits(table: PersonTable, keys: tuple[Any, ...]) -> bool:
    """Whether keys that a caller sent can be compared with those of the table."""
    if not keys:
        return True
    return len(keys) == len(table.keys) and all(
        _is_key(name, value) for name, value in zip(table.keys, keys, strict=True)
    )


def _is_key(name: str, value: Any) -> bool:
    if name in ("id", "position") or name.endswith("_id"):
        return isinstance(value, bytes) and len(value) == 16
    if name in ("step", "archived"):
        return isinstance(value, int) and 0 <= value < 2**15
    return isinstance(value, str) and "\0" not in value


def _render(table: PersonTable, row: Row) -> dict[str, Any]:
    given = {name: row[name] for name in (*table.columns, *table.joined) if row[name] is not None}
    return {_wire_name(name, value): _value(table, name, value) for name, value in given.items()}


def _wire_name(name: str, value: Any) -> str:
    if name in _NAMES:
        return _NAMES[name]
    first, *others = name.split("_")
    camel = first + "".join(one.capitalize() for one in others)
    return f"_{camel}" if isinstance(value, bytes) else camel


def _value(table: PersonTable, name: str, value: Any) -> Any:
    if name in table.json:
        return json_value(value)
    if name in table.flags:
        return bool(value)
    if isinstance(value, bytes):
        return id_text(value)
    if isinstance(value, int) and name.endswith(_MOMENTS):
        return iso_text(value)  # type: ignore[arg-type]
    return value
