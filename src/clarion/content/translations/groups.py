"""Which workflows and layouts have translations: switched on and off, copied and deleted with them.

Switching off keeps the texts: clients send `isTranslationEnabled: false` without being asked to. It holds for triggers
that are accepted from then on, because the steps of runs under way still refer to texts.
"""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.environments.configuration import raise_configuration_version
from clarion.ids import EnvironmentId


class ResourceType(StrEnum):
    """What has translations."""

    WORKFLOW = "workflow"
    LAYOUT = "layout"


class Translated(Struct, frozen=True):
    """A workflow or layout, as the owner of translations."""

    environment_id: EnvironmentId
    type: ResourceType
    id: bytes


class TranslationGroup(Struct, frozen=True, kw_only=True):
    """The translations of one resource; they are kept while they are not used."""

    resource_id: bytes
    is_enabled: bool
    created_at: Millis
    updated_at: Millis


_OF_RESOURCE = "environment_id = :environment_id AND resource_type = :type AND resource_id = :id"

LIST_GROUPS = sql("""
    SELECT resource_id, is_enabled, created_at, updated_at FROM translation_groups
    WHERE environment_id = :environment_id AND resource_type = :type AND resource_id {any:ids}
""")
ENABLE_GROUP = sql("""
    INSERT INTO translation_groups (environment_id, resource_type, resource_id, is_enabled, created_at, updated_at)
    VALUES (:environment_id, :type, :id, true, :now, :now)
    ON CONFLICT (environment_id, resource_type, resource_id) DO UPDATE
    SET is_enabled = true, updated_at = excluded.updated_at WHERE NOT translation_groups.is_enabled
    RETURNING resource_id
""")
DISABLE_GROUP = sql(f"""
    UPDATE translation_groups SET is_enabled = false, disabled_at = :now, updated_at = :now
    WHERE {_OF_RESOURCE} AND is_enabled
    RETURNING resource_id
""")
COPY_GROUP = sql("""
    INSERT INTO translation_groups (environment_id, resource_type, resource_id, is_enabled, created_at, updated_at)
    SELECT :target_environment_id, resource_type, :target_id, is_enabled, :now, :now FROM translation_groups
    WHERE environment_id = :environment_id AND resource_type = :type AND resource_id = :id
    ON CONFLICT (environment_id, resource_type, resource_id) DO UPDATE
    SET is_enabled = excluded.is_enabled, updated_at = excluded.updated_at,
        disabled_at = CASE WHEN translation_groups.is_enabled AND NOT excluded.is_enabled
            THEN excluded.updated_at ELSE translation_groups.disabled_at END
    RETURNING resource_id
""")
COPY_TRANSLATIONS = sql("""
    INSERT INTO translations (environment_id, resource_type, resource_id, locale, content, created_at, updated_at)
    SELECT :target_environment_id, resource_type, :target_id, locale, content, :now, :now FROM translations
    WHERE environment_id = :environment_id AND resource_type = :type AND resource_id = :id
""")
DELETE_GROUP = sql(f"DELETE FROM translation_groups WHERE {_OF_RESOURCE} RETURNING resource_id")
DELETE_TRANSLATIONS = sql(f"DELETE FROM translations WHERE {_OF_RESOURCE} RETURNING resource_id")


async def list_groups(
    db: Connection, environment_id: EnvironmentId, kind: ResourceType, ids: Iterable[bytes]
) -> dict[bytes, TranslationGroup]:
    """Return the groups of the given resources, by the id of the resource; those that never had one are absent."""
    rows = await db.fetch(LIST_GROUPS, environment_id=environment_id, type=kind, ids=list(dict.fromkeys(ids)))
    return {
        row["resource_id"]: TranslationGroup(**{**dict(row), "is_enabled": bool(row["is_enabled"])}) for row in rows
    }


async def is_translation_enabled(db: Connection, resource: Translated) -> bool:
    groups = await list_groups(db, resource.environment_id, resource.type, [resource.id])
    return resource.id in groups and groups[resource.id].is_enabled


async def set_translation_enabled(db: Connection, resource: Translated, *, enabled: bool, now: Millis) -> bool:
    """Switch the translations of a resource on or off; their texts are kept. Returns whether that changed anything."""
    query = ENABLE_GROUP if enabled else DISABLE_GROUP
    changed = await db.fetch_one(query, **_names(resource), now=now) is not None
    if changed:
        await raise_configuration_version(db, resource.environment_id)
    return changed


async def copy_group(db: Connection, source: Translated, target: Translated, now: Millis) -> None:
    """Give a resource the translations of another, on or off as they are there; it loses those that it has."""
    await db.execute(DELETE_TRANSLATIONS, **_names(target))
    copied = {"target_environment_id": target.environment_id, "target_id": target.id, "now": now}
    if await db.fetch_one(COPY_GROUP, **_names(source), **copied) is None:
        await db.execute(DELETE_GROUP, **_names(target))
    await db.execute(COPY_TRANSLATIONS, **_names(source), **copied)
    await raise_configuration_version(db, target.environment_id)


async def delete_group(db: Connection, resource: Translated) -> bool:
    """Delete the translations of a resource for good; returns False if it has none."""
    deleted = await _delete(db, resource)
    if deleted:
        await raise_configuration_version(db, resource.environment_id)
    return deleted


async def _delete(db: Connection, resource: Translated) -> bool:
    texts = await db.fetch(DELETE_TRANSLATIONS, **_names(resource))
    group = await db.fetch_one(DELETE_GROUP, **_names(resource))
    return bool(texts) or group is not None


def _names(resource: Translated) -> dict[str, object]:
    return {"environment_id": resource.environment_id, "type": resource.type, "id": resource.id}
