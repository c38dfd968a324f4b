"""Create, change, copy and delete layouts; a change adds a version, because runs keep the one they were accepted at."""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct, UnsetType
from msgspec.structs import replace

from clarion.audit.model import Actor
from clarion.clock import Millis
from clarion.content.email.compose import LayoutSource
from clarion.content.layouts import store
from clarion.content.layouts.model import MAX_LAYOUTS, Layout, LayoutVersion, VersionedLayout
from clarion.content.layouts.usage import list_users, without_layout
from clarion.content.translations.groups import (
    ResourceType,
    Translated,
    copy_group,
    set_translation_enabled,
)
from clarion.db.port import Connection
from clarion.environments.configuration import raise_configuration_version
from clarion.errors import Invalid
from clarion.ids import EnvironmentId, LayoutId, LayoutKey, LayoutVersionId, new_id
from clarion.workflows.actions import change_workflow
from clarion.workflows.history import VersionOrigin
from clarion.workflows.model import VersionedWorkflow, kebab
from clarion.workflows.store import get_version, get_workflow


class LayoutDraft(Struct, frozen=True, kw_only=True):
    """A layout that does not exist yet."""

    key: str
    """Empty: made from the name."""
    name: str
    source: LayoutSource | None
    is_translated: bool = False
    actor: Actor | None = None


class LayoutChanges(Struct, frozen=True, kw_only=True):
    """What is to change; what is absent stays as it is."""

    name: str
    source: LayoutSource | UnsetType | None
    is_translated: bool | UnsetType
    actor: Actor | None = None


class ChangedWorkflow(NamedTuple):
    before: VersionedWorkflow
    after: VersionedWorkflow


async def create_layout(
    db: Connection, environment_id: EnvironmentId, draft: LayoutDraft, now: Millis
) -> VersionedLayout:
    """Create a layout with its first version; the first one of an environment is the default. Raises Invalid."""
    # This also makes others wait, so that there is one default and the limit holds.
    await raise_configuration_version(db, environment_id)
    layouts = await store.list_layouts(db, environment_id)
    if len(layouts) >= MAX_LAYOUTS:
        raise Invalid.field("layoutId", f"is one too many: an environment has up to {MAX_LAYOUTS} layouts; delete one")
    key = LayoutKey(draft.key or kebab(draft.name))
    if not key:
        raise Invalid.field("layoutId", "is needed, because the name has no letters to make one from", draft.key)
    version = LayoutVersion(
        environment_id=environment_id,
        id=LayoutVersionId(new_id(now)),
        layout_id=LayoutId(new_id(now)),
        number=1,
        source=draft.source,
        actor=draft.actor,
        created_at=now,
    )
    layout = Layout(
        environment_id=environment_id,
        id=version.layout_id,
        key=key,
        name=draft.name,
        is_default=not layouts,
        version_id=version.id,
        created_at=now,
        updated_at=now,
    )
    if not await store.insert_layout(db, layout, version):
        raise Invalid.field("layoutId", "is the identifier of another layout of this environment", key)
    if draft.is_translated:
        await set_translation_enabled(db, translated(layout), enabled=True, now=now)
    return VersionedLayout(layout, version, is_translated=draft.is_translated)


async def change_layout(
    db: Connection, current: VersionedLayout, changes: LayoutChanges, now: Millis
) -> VersionedLayout:
    """Apply changes, with a new version if the body differs; the caller has locked the layout's row."""
    layout, version, is_translated = current
    if not isinstance(changes.is_translated, UnsetType) and changes.is_translated is not is_translated:
        is_translated = changes.is_translated
        await set_translation_enabled(db, translated(layout), enabled=is_translated, now=now)
    if not isinstance(changes.source, UnsetType) and changes.source != version.source:
        version = replace(
            version,
            id=LayoutVersionId(new_id(now)),
            number=version.number + 1,
            source=changes.source,
            actor=changes.actor,
            created_at=now,
        )
        await store.insert_version(db, version)
    changed = VersionedLayout(replace(layout, name=changes.name, version_id=version.id), version, is_translated)
    if changed == current:
        return current
    changed = changed._replace(layout=replace(changed.layout, updated_at=now))
    await store.update_layout(db, changed.layout)
    await raise_configuration_version(db, layout.environment_id)
    return changed


async def duplicate_layout(db: Connection, source: VersionedLayout, draft: LayoutDraft, now: Millis) -> VersionedLayout:
    """Create a layout with the body of another one, and with its translations if those of the copy are to be used."""
    copy = await create_layout(db, source.layout.environment_id, draft, now)
    if draft.is_translated:
        await copy_group(db, translated(source.layout), translated(copy.layout), now)
        await set_translation_enabled(db, translated(copy.layout), enabled=True, now=now)
    return copy


async def set_default_layout(db: Connection, layout: Layout) -> Layout:
    """Make it the layout that editors offer for new steps."""
    await raise_configuration_version(db, layout.environment_id)
    await store.set_default(db, layout)
    return replace(layout, is_default=True)


async def delete_layout(db: Connection, layout: Layout, origin: VersionOrigin, now: Millis) -> list[ChangedWorkflow]:
    """Delete a layout, and take it out of the steps that name it; returns their workflows.

    Its translations stay for the runs under way, as its versions do, and nobody else finds them. Raises Invalid for the
    default layout. The caller has locked the layout's row.
    """
    if layout.is_default:
        message = "is the default layout; make another one the default first (PUT /v2/layouts/{layoutId}/default)"
        raise Invalid.field("layoutId", message, layout.key)
    # Workflows first: whoever saves one locks its row before that of the environment.
    changed = await _leave_out(db, await list_users(db, layout.environment_id, layout.key), layout, origin, now)
    await raise_configuration_version(db, layout.environment_id)
    await store.mark_layout_deleted(db, layout, now)
    return changed


async def _leave_out(
    db: Connection, users: Sequence[VersionedWorkflow], layout: Layout, origin: VersionOrigin, now: Millis
) -> list[ChangedWorkflow]:
    changed = []
    for user in users:
        workflow = await get_workflow(db, layout.environment_id, user.workflow.key, for_update=True)
        before = VersionedWorkflow(workflow, await get_version(db, workflow))
        steps = without_layout(before.version.steps, layout.key)
        after = await change_workflow(db, before, {}, {"steps": steps}, now, origin)
        changed.append(ChangedWorkflow(before, after))
    return changed


def translated(layout: Layout) -> Translated:
    """The layout as the owner of its translations."""
    return Translated(layout.environment_id, ResourceType.LAYOUT, layout.id)
