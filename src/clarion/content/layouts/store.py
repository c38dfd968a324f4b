"""SQL of layouts and their versions."""

from collections.abc import Iterable

from clarion.audit.model import Actor, ActorType
from clarion.cache import CacheSlot
from clarion.clock import Millis
from clarion.content.email.compose import EditorType, LayoutSource
from clarion.content.layouts.model import Layout, LayoutVersion, VersionedLayout, find_layout_id
from clarion.content.translations.groups import ResourceType, list_groups
from clarion.db.port import Connection, Row
from clarion.db.query import columns_of, sql
from clarion.errors import NotFound
from clarion.ids import EnvironmentId, LayoutId, LayoutVersionId

_VERSIONS: CacheSlot[tuple[EnvironmentId, LayoutVersionId], LayoutVersion] = CacheSlot(limit=256)

_COLUMNS = columns_of(Layout)
_VERSION_COLUMNS = """
    environment_id, id, layout_id, number, body, editor_type, actor_type, actor_id, actor_name, created_at
"""
INSERT_LAYOUT = sql("""
    INSERT INTO layouts (environment_id, id, key, name, is_default, version_id, created_at, updated_at)
    VALUES (:environment_id, :id, :key, :name, :is_default, :version_id, :now, :now)
    ON CONFLICT (environment_id, key) WHERE deleted_at IS NULL DO NOTHING
    RETURNING id
""")
INSERT_VERSION = sql("""
    INSERT INTO layout_versions (
        environment_id, id, layout_id, number, body, editor_type, actor_type, actor_id, actor_name, created_at
    ) VALUES (
        :environment_id, :id, :layout_id, :number, :body, :editor_type, :actor_type, :actor_id, :actor_name,
        :created_at
    )
""")
_BY_KEY = f"SELECT {_COLUMNS} FROM layouts WHERE environment_id = :environment_id AND key = :key AND deleted_at IS NULL"
_BY_ID = f"SELECT {_COLUMNS} FROM layouts WHERE environment_id = :environment_id AND id = :id AND deleted_at IS NULL"
FIND_LAYOUT_BY_KEY = sql(_BY_KEY)
FIND_LAYOUT_BY_ID = sql(_BY_ID)
FIND_LAYOUT_BY_KEY_FOR_UPDATE = sql(_BY_KEY + " {for_update}")
FIND_LAYOUT_BY_ID_FOR_UPDATE = sql(_BY_ID + " {for_update}")
LIST_LAYOUTS = sql(f"""
    SELECT {_COLUMNS} FROM layouts
    WHERE environment_id = :environment_id AND deleted_at IS NULL ORDER BY id
""")
UPDATE_LAYOUT = sql("""
    UPDATE layouts SET name = :name, version_id = :version_id, updated_at = :updated_at
    WHERE environment_id = :environment_id AND id = :id
""")
CLEAR_DEFAULT = sql("""
    UPDATE layouts SET is_default = false
    WHERE environment_id = :environment_id AND is_default AND deleted_at IS NULL
""")
SET_DEFAULT = sql("""
    UPDATE layouts SET is_default = true WHERE environment_id = :environment_id AND id = :id
""")
MARK_LAYOUT_DELETED = sql("""
    UPDATE layouts SET deleted_at = :now WHERE environment_id = :environment_id AND id = :id
""")
LIST_VERSIONS_BY_ID = sql(f"""
    SELECT {_VERSION_COLUMNS} FROM layout_versions
    WHERE environment_id = :environment_id AND id {{any:ids}}
""")


async def insert_layout(db: Connection, layout: Layout, version: LayoutVersion) -> bool:
    """Insert a layout with its first version; returns False if the identifier is taken."""
    row = await db.fetch_one(
        INSERT_LAYOUT,
        environment_id=layout.environment_id,
        id=layout.id,
        key=layout.key,
        name=layout.name,
        is_default=layout.is_default,
        version_id=layout.version_id,
        now=layout.created_at,
    )
    if row is None:
        return False
    await insert_version(db, version)
    return True


async def insert_version(db: Connection, version: LayoutVersion) -> None:
    source, actor = version.source, version.actor
    await db.execute(
        INSERT_VERSION,
        environment_id=version.environment_id,
        id=version.id,
        layout_id=version.layout_id,
        number=version.number,
        body=None if source is None else source.body,
        editor_type=EditorType.BLOCK if source is None else source.editor_type,
        actor_type=None if actor is None else actor.type,
        actor_id=None if actor is None else actor.id,
        actor_name=None if actor is None else actor.name,
        created_at=version.created_at,
    )


async def find_layout(
    db: Connection, environment_id: EnvironmentId, reference: str, *, for_update: bool = False
) -> Layout | None:
    """Find a layout by its identifier, `_id` or slug."""
    by_key, by_id = (
        (FIND_LAYOUT_BY_KEY_FOR_UPDATE, FIND_LAYOUT_BY_ID_FOR_UPDATE)
        if for_update
        else (FIND_LAYOUT_BY_KEY, FIND_LAYOUT_BY_ID)
    )
    row = await db.fetch_one(by_key, environment_id=environment_id, key=reference)
    layout_id = find_layout_id(reference)
    if row is None and layout_id is not None:
        row = await db.fetch_one(by_id, environment_id=environment_id, id=layout_id)
    return None if row is None else layout_of(row)


async def get_layout(
    db: Connection, environment_id: EnvironmentId, reference: str, *, for_update: bool = False
) -> VersionedLayout:
    """Return a layout with its current version; raises NotFound."""
    layout = await find_layout(db, environment_id, reference, for_update=for_update)
    if layout is None:
        raise NotFound("Layout", reference)
    return (await add_versions(db, environment_id, [layout]))[0]


async def list_layouts(db: Connection, environment_id: EnvironmentId) -> list[Layout]:
    """List the layouts that are not deleted, oldest first."""
    return [layout_of(row) for row in await db.fetch(LIST_LAYOUTS, environment_id=environment_id)]


async def add_versions(
    db: Connection, environment_id: EnvironmentId, layouts: Iterable[Layout]
) -> list[VersionedLayout]:
    """Return the layouts with their current versions, and whether they are translated."""
    wanted = list(layouts)
    versions = await list_versions_by_id(db, environment_id, [layout.version_id for layout in wanted])
    groups = await list_groups(db, environment_id, ResourceType.LAYOUT, [layout.id for layout in wanted])
    return [
        VersionedLayout(
            layout, versions[layout.version_id], is_translated=layout.id in groups and groups[layout.id].is_enabled
        )
        for layout in wanted
    ]


async def update_layout(db: Connection, layout: Layout) -> None:
    """Write every column of a layout that can change, but whether it is the default; the caller has locked its row."""
    await db.execute(
        UPDATE_LAYOUT,
        environment_id=layout.environment_id,
        id=layout.id,
        name=layout.name,
        version_id=layout.version_id,
        updated_at=layout.updated_at,
    )


async def set_default(db: Connection, layout: Layout) -> None:
    """Make it the default instead of the present one; the caller has locked the environment."""
    await db.execute(CLEAR_DEFAULT, environment_id=layout.environment_id)
    await db.execute(SET_DEFAULT, environment_id=layout.environment_id, id=layout.id)


async def mark_layout_deleted(db: Connection, layout: Layout, now: Millis) -> None:
    """Mark a layout deleted and free its identifier; its versions stay for the runs under way."""
    await db.execute(MARK_LAYOUT_DELETED, environment_id=layout.environment_id, id=layout.id, now=now)


async def list_versions_by_id(
    db: Connection, environment_id: EnvironmentId, ids: Iterable[LayoutVersionId]
) -> dict[LayoutVersionId, LayoutVersion]:
    """The given versions; they never change, so they are cached."""
    cache = db.caches.of(_VERSIONS)
    wanted = dict.fromkeys(ids)
    versions = {one: version for one in wanted if (version := cache.get((environment_id, one))) is not None}
    missing = [one for one in wanted if one not in versions]
    if missing:
        for row in await db.fetch(LIST_VERSIONS_BY_ID, environment_id=environment_id, ids=missing):
            version = version_of(row)
            versions[version.id] = version
            cache.put((environment_id, version.id), version)
    return versions


def layout_of(row: Row) -> Layout:
    return Layout(**{**dict(row), "is_default": bool(row["is_default"])})


def version_of(row: Row) -> LayoutVersion:
    kind = row["actor_type"]
    body = row["body"]
    return LayoutVersion(
        environment_id=row["environment_id"],
        id=LayoutVersionId(row["id"]),
        layout_id=LayoutId(row["layout_id"]),
        number=row["number"],
        source=None if body is None else LayoutSource(body, EditorType(row["editor_type"])),
        actor=None if kind is None else Actor(type=ActorType(kind), id=row["actor_id"], name=row["actor_name"]),
        created_at=row["created_at"],
    )
