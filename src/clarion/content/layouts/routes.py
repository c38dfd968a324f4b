"""Layouts: create, read, change, list, copy, delete; and what uses them."""

import asyncio

from msgspec import UnsetType

from clarion.audit.model import Action
from clarion.audit.recording import author_of, record_request
from clarion.content.layouts import actions, store
from clarion.content.layouts.actions import LayoutChanges, LayoutDraft
from clarion.content.layouts.listing import list_layout_page
from clarion.content.layouts.model import START, VersionedLayout
from clarion.content.layouts.usage import list_users
from clarion.content.layouts.validation import check_source, find_missing
from clarion.content.layouts.wire import (
    DuplicateLayoutIn,
    LayoutIn,
    LayoutOut,
    LayoutPut,
    LayoutsOut,
    LayoutsQuery,
    LayoutUsageOut,
    LayoutUserOut,
    etag_of,
)
from clarion.content.translations.known import get_known_texts
from clarion.errors import PreconditionFailed
from clarion.http.limits import LARGE_BODY
from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.http.preconditions import IfMatch
from clarion.ids import LayoutKey
from clarion.vocabulary import Scope
from clarion.workflows.history import VersionOrigin
from clarion.workflows.issues import Issue


@operation("GET", "/v2/layouts", scope=Scope.WORKFLOWS_READ, query=LayoutsQuery, transaction=Transaction.SCAN)
async def list_layouts(call: Call, query: LayoutsQuery) -> LayoutsOut:
    """List layouts, without their bodies; `query` is a part of the name or identifier."""
    page, total = await list_layout_page(call.db, call.environment_id, query)
    origin = call.services.names.origin
    return LayoutsOut(layouts=[LayoutOut.of(one, origin, is_listed=True) for one in page], total_count=total)


@operation("POST", "/v2/layouts", scope=Scope.WORKFLOWS_WRITE, status=201, body=LayoutIn, etag=True)
async def create_layout(call: Call, body: LayoutIn) -> LayoutOut:
    """Create a layout, which has the content of e-mails and nothing around it; a change gives it a body.

    The first layout of an environment is its default.
    """
    draft = LayoutDraft(
        key=str(body.layout_id),
        name=body.name,
        source=START,
        is_translated=body.is_translation_enabled,
        actor=author_of(call).actor,
    )
    made = await actions.create_layout(call.db, call.environment_id, draft, call.now)
    await record_request(call, Action.LAYOUT_CREATE, after=made)
    return await _show(call, made)


@operation("GET", "/v2/layouts/{layoutId}", scope=Scope.WORKFLOWS_READ, etag=True)
async def get_layout(call: Call, layout_key: LayoutKey) -> LayoutOut:
    """Retrieve a layout by its identifier, `_id` or slug."""
    return await _show(call, await store.get_layout(call.db, call.environment_id, layout_key))


async def _check_body(_: DetachedCall, __: LayoutKey, body: LayoutPut) -> None:
    source = body.source()
    if source is not None and not isinstance(source, UnsetType):
        # Parsing takes long for large texts, so that neither the event loop nor the writer of SQLite waits for it.
        await asyncio.to_thread(check_source, source)


@operation(
    "PUT",
    "/v2/layouts/{layoutId}",
    scope=Scope.WORKFLOWS_WRITE,
    body=LayoutPut,
    body_limit=LARGE_BODY,
    precheck=_check_body,
    etag=True,
    conditional=True,
)
async def replace_layout(call: Call, layout_key: LayoutKey, body: LayoutPut, if_match: IfMatch) -> LayoutOut:
    """Change the name, and the body if it is sent; runs that were accepted before keep the version of then."""
    current = await _lock(call, layout_key, if_match)
    changes = LayoutChanges(
        name=body.name,
        source=body.source(),
        is_translated=body.is_translation_enabled,
        actor=author_of(call).actor,
    )
    changed = await actions.change_layout(call.db, current, changes, call.now)
    await record_request(call, Action.LAYOUT_UPDATE, before=current, after=changed)
    return await _show(call, changed)


@operation("DELETE", "/v2/layouts/{layoutId}", scope=Scope.WORKFLOWS_WRITE, status=204, conditional=True)
async def delete_layout(call: Call, layout_key: LayoutKey, if_match: IfMatch) -> None:
    """Delete a layout that is not the default, with its translations; steps that name it have none afterwards.

    Runs under way keep it with its translations.
    """
    current = await _lock(call, layout_key, if_match)
    origin = VersionOrigin(actor=author_of(call).actor)
    for before, after in await actions.delete_layout(call.db, current.layout, origin, call.now):
        await record_request(call, Action.WORKFLOW_UPDATE, before=before, after=after)
    await record_request(call, Action.LAYOUT_DELETE, before=current)


@operation(
    "POST",
    "/v2/layouts/{layoutId}/duplicate",
    scope=Scope.WORKFLOWS_WRITE,
    status=201,
    body=DuplicateLayoutIn,
    etag=True,
)
async def duplicate_layout(call: Call, layout_key: LayoutKey, body: DuplicateLayoutIn) -> LayoutOut:
    """Copy a layout under another identifier; the copy is never the default."""
    source = await store.get_layout(call.db, call.environment_id, layout_key)
    draft = LayoutDraft(
        key="" if isinstance(body.layout_id, UnsetType) else str(body.layout_id),
        name=body.name,
        source=source.version.source,
        is_translated=body.is_translation_enabled,
        actor=author_of(call).actor,
    )
    made = await actions.duplicate_layout(call.db, source, draft, call.now)
    await record_request(call, Action.LAYOUT_DUPLICATE, after=made)
    return await _show(call, made)


@operation("PUT", "/v2/layouts/{layoutId}/default", scope=Scope.WORKFLOWS_WRITE, etag=True)
async def set_default_layout(call: Call, layout_key: LayoutKey) -> LayoutOut:
    """Make a layout the one that editors offer for new steps, in the place of the present one."""
    current = await store.get_layout(call.db, call.environment_id, layout_key, for_update=True)
    changed = current._replace(layout=await actions.set_default_layout(call.db, current.layout))
    await record_request(call, Action.LAYOUT_SET_DEFAULT, before=current, after=changed)
    return await _show(call, changed)


@operation("GET", "/v2/layouts/{layoutId}/usage", scope=Scope.WORKFLOWS_READ, transaction=Transaction.SCAN)
async def get_layout_usage(call: Call, layout_key: LayoutKey) -> LayoutUsageOut:
    """List the workflows with a step that names a layout."""
    current = await store.get_layout(call.db, call.environment_id, layout_key)
    users = await list_users(call.db, call.environment_id, current.layout.key)
    return LayoutUsageOut(workflows=[LayoutUserOut.of(user) for user in users])


async def _lock(call: Call, layout_key: LayoutKey, if_match: IfMatch) -> VersionedLayout:
    """Lock a layout and return it; raises if the caller has read an older state of it."""
    current = await store.get_layout(call.db, call.environment_id, layout_key, for_update=True)
    etag = etag_of(current.layout)
    if not if_match.accepts(etag):
        raise PreconditionFailed(
            f"Layout '{current.layout.key}' has changed since it was read; merge the changes with its present state "
            "in `ctx.layout`, and save with the ETag of that",
            etag=etag,
            ctx={"layout": await _show(call, current)},
        )
    return current


async def _show(call: Call, current: VersionedLayout) -> LayoutOut:
    missing: list[Issue] = []
    source = current.version.source
    if source is not None and current.version.refers_to_texts:
        known = await get_known_texts(call.db, actions.translated(current.layout), with_keys=True)
        missing = find_missing(source, known)
    return LayoutOut.of(current, call.services.names.origin, missing=missing)
