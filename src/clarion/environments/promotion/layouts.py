"""Promotion of layouts: name, body and translations. None is deleted, and defaults stay as they are."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

from clarion.content.layouts import store
from clarion.content.layouts.actions import LayoutChanges, LayoutDraft, change_layout, create_layout, translated
from clarion.content.layouts.model import VersionedLayout
from clarion.content.translations.groups import ResourceType, copy_group
from clarion.content.translations.store import describe_texts
from clarion.db.port import Connection
from clarion.environments.promotion.model import PromotionContext, Resource, ResourceDiff
from clarion.ids import EnvironmentId
from clarion.jsontext import plain_value


async def list_resources(db: Connection, environment_id: EnvironmentId, _: PromotionContext) -> list[Resource]:
    layouts = await store.list_layouts(db, environment_id)
    texts = await describe_texts(db, environment_id, ResourceType.LAYOUT, [layout.id for layout in layouts])
    versioned = await store.add_versions(db, environment_id, layouts)
    return [_resource(current, texts[current.layout.id]) for current in versioned]


async def apply(db: Connection, environment_id: EnvironmentId, diff: ResourceDiff, context: PromotionContext) -> None:
    """Create a layout of the target, or change one; runs under way keep their version."""
    if diff.source is None:
        return
    source: VersionedLayout = diff.source.record
    name, body = source.layout.name, source.version.source
    if diff.target is None:
        draft = LayoutDraft(key=source.layout.key, name=name, source=body, actor=context.actor)
        changed = await create_layout(db, environment_id, draft, context.now)
    else:
        current = await store.get_layout(db, environment_id, source.layout.key, for_update=True)
        changes = LayoutChanges(name=name, source=body, is_translated=UNSET, actor=context.actor)
        changed = await change_layout(db, current, changes, context.now)
    await copy_group(db, translated(source.layout), translated(changed.layout), context.now)


def _resource(current: VersionedLayout, texts: Mapping[str, Any]) -> Resource:
    layout = current.layout
    return Resource(
        id=layout.id,
        identifier=layout.key,
        name=layout.name,
        updated_at=layout.updated_at,
        fields={"name": layout.name, "email": plain_value(current.version.source), **texts},
        record=current,
        match=layout.key,
    )
