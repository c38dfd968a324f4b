"""Shapes of a person's data."""

from typing import Annotated, Any, Self

from msgspec import Meta

from clarion.http.wire import Wire
from clarion.subscribers.personal_data.export import MAX_ITEMS, ExportPage, Item, encode_position
from clarion.subscribers.personal_data.tables import ItemKind


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

    @classmethod
    def of(cls, item: Item) -> Self:
        return cls(kind=item.kind, data=item.data)


class ExportOut(Wire):
    """A page of an export; `next` is null on the last one."""

    data: list[ExportItemOut]
    next: str | None

    @classmethod
    def of(cls, page: ExportPage) -> Self:
        following = None if page.next is None else encode_position(page.next)
        return cls(data=[ExportItemOut.of(one) for one in page.items], next=following)
