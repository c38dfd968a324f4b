"""Contexts: create, read, change, list, delete."""

import msgspec
from msgspec import UnsetType

from clarion.contexts import store
from clarion.contexts.model import DATA_RULE, is_small
from clarion.contexts.wire import ContextOrder, ContextOut, ContextPatch, ContextsQuery, NewContextIn
from clarion.errors import AlreadyExists, Invalid
from clarion.http.limits import LARGE_BODY
from clarion.http.operation import Call, Transaction, operation
from clarion.http.pages import CursorPage, list_cursor_page
from clarion.preferences.store import delete_of_context
from clarion.vocabulary import OrderBy, Scope


@operation("POST", "/v2/contexts", scope=Scope.CONTEXTS_WRITE, status=201, body=NewContextIn, body_limit=LARGE_BODY)
async def create_context(call: Call, body: NewContextIn) -> ContextOut:
    """Create a context; triggers that name it use its data."""
    key = (str(body.type), str(body.id))
    data = {} if isinstance(body.data, UnsetType) else body.data or {}
    _check_data(data)
    if not await store.insert_contexts(call.db, call.environment_id, [(key, data)], call.now):
        raise AlreadyExists(f"Context '{body.type}:{body.id}' exists already; change it by PATCH")
    return ContextOut.of(await store.get_context(call.db, call.environment_id, *key))


@operation("GET", "/v2/contexts", scope=Scope.CONTEXTS_READ, query=ContextsQuery, transaction=Transaction.SCAN)
async def list_contexts(call: Call, query: ContextsQuery) -> CursorPage[ContextOut]:
    """List contexts, newest first."""
    listing = store.contexts_listing(call.environment_id, kind=query.type, key=query.id, search=query.search)
    order = OrderBy.UPDATED_AT if query.order_by is ContextOrder.UPDATED_AT else OrderBy.ID
    page = msgspec.structs.replace(query, order_by=order)
    return await list_cursor_page(call.db, listing, page, lambda row: ContextOut.of(store.context_of(row)))


@operation("GET", "/v2/contexts/{contextType}/{contextId}", scope=Scope.CONTEXTS_READ)
async def get_context(call: Call, context_type: str, context_id: str) -> ContextOut:
    """Retrieve a context."""
    return ContextOut.of(await store.get_context(call.db, call.environment_id, context_type, context_id))


@operation(
    "PATCH",
    "/v2/contexts/{contextType}/{contextId}",
    scope=Scope.CONTEXTS_WRITE,
    body=ContextPatch,
    body_limit=LARGE_BODY,
)
async def update_context(call: Call, context_type: str, context_id: str, body: ContextPatch) -> ContextOut:
    """Replace the data of a context; messages that are made from now on see the new data, also of earlier triggers."""
    _check_data(body.data)
    context = await store.get_context(call.db, call.environment_id, context_type, context_id, for_update=True)
    if body.data != context.data:
        context = await store.update_context(call.db, context, body.data, call.now)
    return ContextOut.of(context)


@operation("DELETE", "/v2/contexts/{contextType}/{contextId}", scope=Scope.CONTEXTS_WRITE, status=204)
async def delete_context(call: Call, context_type: str, context_id: str) -> None:
    """Delete a context with its data and the preferences of people in it.

    Messages, inboxes and subscriptions to topics stay, and a trigger that names it makes it again.
    """
    context = await store.get_context(call.db, call.environment_id, context_type, context_id, for_update=True)
    await store.delete_context(call.db, context)
    await delete_of_context(call.db, call.environment_id, context.type, context.key)


def _check_data(data: dict[str, object]) -> None:
    if not is_small(data):
        raise Invalid.field("data", DATA_RULE)
