"""Pages of layouts. An environment has few, so that they are filtered and sorted here instead of in SQL."""

from clarion.content.layouts import store
from clarion.content.layouts.model import Layout, VersionedLayout
from clarion.content.layouts.wire import LayoutOrder, LayoutsQuery
from clarion.db.port import Connection
from clarion.ids import EnvironmentId
from clarion.vocabulary import OrderDirection


async def list_layout_page(
    db: Connection, environment_id: EnvironmentId, query: LayoutsQuery
) -> tuple[list[VersionedLayout], int]:
    """Return one page, and the total."""
    text = (query.query or "").casefold()
    layouts = [
        layout
        for layout in await store.list_layouts(db, environment_id)
        if text in layout.name.casefold() or text in layout.key.casefold()
    ]
    layouts.sort(key=lambda one: _sort_key(one, query.order_by), reverse=query.order_direction is OrderDirection.DESC)
    page = layouts[query.offset : query.offset + query.limit]
    return await store.add_versions(db, environment_id, page), len(layouts)


def _sort_key(layout: Layout, order_by: LayoutOrder) -> tuple[object, ...]:
    match order_by:
        case LayoutOrder.NAME:
            return layout.name.casefold(), layout.id
        case LayoutOrder.UPDATED_AT:
            return layout.updated_at, layout.id
        case LayoutOrder.CREATED_AT:
            return (layout.id,)
