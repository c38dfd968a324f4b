"""Rows of translations, and of the workflows and layouts that they belong to."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.content.layouts.model import find_layout_id
from clarion.content.translations.groups import ResourceType, Translated, list_groups
from clarion.content.translations.model import Content, Translation
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.environments.configuration import raise_configuration_version
from clarion.errors import NotFound
from clarion.ids import EnvironmentId
from clarion.jsontext import json_text, json_value
from clarion.workflows.store import find_workflow, list_workflows_by_reference


class NamedResource(Struct, frozen=True, kw_only=True):
    """A workflow or layout with its names."""

    owner: Translated
    key: str
    name: str


_OF_RESOURCE = "environment_id = :environment_id AND resource_type = :type AND resource_id = :id"

LIST_TRANSLATIONS = sql(f"""
    SELECT resource_id, locale, content, created_at, updated_at FROM translations WHERE {_OF_RESOURCE} ORDER BY locale
""")
FIND_TRANSLATION = sql(f"""
    SELECT resource_id, locale, content, created_at, updated_at FROM translations
    WHERE {_OF_RESOURCE} AND locale = :locale
""")
LIST_OF_LOCALE = sql("""
    SELECT resource_id, locale, content, created_at, updated_at FROM translations
    WHERE environment_id = :environment_id AND resource_type = :type AND locale = :locale
""")
LIST_ALL = sql("""
    SELECT resource_id, locale, content, created_at, updated_at FROM translations
    WHERE environment_id = :environment_id AND resource_type = :type AND resource_id {any:ids}
    ORDER BY resource_id, locale
""")
LIST_LENGTHS = sql(f"SELECT locale, LENGTH(content) AS length FROM translations WHERE {_OF_RESOURCE}")
PUT_TRANSLATION = sql("""
    INSERT INTO translations (environment_id, resource_type, resource_id, locale, content, created_at, updated_at)
    VALUES (:environment_id, :type, :id, :locale, :content, :now, :now)
    ON CONFLICT (environment_id, resource_type, resource_id, locale) DO UPDATE
    SET content = excluded.content, updated_at = excluded.updated_at
""")
ENSURE_GROUP = sql("""
    INSERT INTO translation_groups (environment_id, resource_type, resource_id, is_enabled, created_at, updated_at)
    VALUES (:environment_id, :type, :id, false, :now, :now)
    ON CONFLICT (environment_id, resource_type, resource_id) DO UPDATE SET updated_at = excluded.updated_at
""")
DELETE_TRANSLATION = sql(f"DELETE FROM translations WHERE {_OF_RESOURCE} AND locale = :locale")
_COUNT = """
    SELECT COUNT(*) AS translations, COALESCE(SUM(OCTET_LENGTH(t.content)), 0) AS bytes FROM translations AS t
    WHERE t.environment_id = :environment_id AND (
        EXISTS (
            SELECT 1 FROM workflows AS w
            WHERE w.environment_id = t.environment_id AND w.id = t.resource_id AND w.deleted_at IS NULL
        ) OR EXISTS (
            SELECT 1 FROM layouts AS l
            WHERE l.environment_id = t.environment_id AND l.id = t.resource_id AND l.deleted_at IS NULL
        )
    )
"""
COUNT_ALL = sql(_COUNT)
COUNT_OF_LOCALE = sql(f"{_COUNT} AND t.locale = :locale")
LIST_LAYOUTS = sql("""
    SELECT id, key, name FROM layouts WHERE environment_id = :environment_id AND deleted_at IS NULL
""")
LIST_LAYOUT_NAMES = sql("""
    SELECT g.resource_id AS id, r.key, r.name FROM translation_groups AS g
    JOIN layouts AS r ON r.environment_id = g.environment_id AND r.id = g.resource_id
    WHERE g.environment_id = :environment_id AND g.resource_type = 'layout' AND r.deleted_at IS NULL
""")
LIST_WORKFLOW_NAMES = sql("""
    SELECT g.resource_id AS id, r.key, r.name FROM translation_groups AS g
    JOIN workflows AS r ON r.environment_id = g.environment_id AND r.id = g.resource_id
    WHERE g.environment_id = :environment_id AND g.resource_type = 'workflow' AND r.deleted_at IS NULL
""")


async def find_resource(
    db: Connection, environment_id: EnvironmentId, kind: ResourceType, reference: str
) -> NamedResource | None:
    """Find a workflow or layout by its identifier, `_id` or slug."""
    if kind is ResourceType.LAYOUT:
        return (await _list_layouts(db, environment_id, [reference])).get(reference)
    workflow = await find_workflow(db, environment_id, reference)
    if workflow is None:
        return None
    owner = Translated(environment_id, kind, workflow.id)
    return NamedResource(owner=owner, key=workflow.key, name=workflow.name)


async def get_resource(
    db: Connection, environment_id: EnvironmentId, kind: ResourceType, reference: str
) -> NamedResource:
    resource = await find_resource(db, environment_id, kind, reference)
    if resource is None:
        raise NotFound(kind.title(), reference)
    return resource


async def list_resources_by_reference(
    db: Connection, environment_id: EnvironmentId, kind: ResourceType, references: Sequence[str]
) -> dict[str, NamedResource]:
    """Return the workflows or layouts that exist, by the given reference."""
    if kind is ResourceType.LAYOUT:
        return await _list_layouts(db, environment_id, references)
    workflows = await list_workflows_by_reference(db, environment_id, references) if references else {}
    return {
        reference: NamedResource(
            owner=Translated(environment_id, kind, workflow.id), key=workflow.key, name=workflow.name
        )
        for reference, workflow in workflows.items()
    }


async def list_resources(db: Connection, environment_id: EnvironmentId, kind: ResourceType) -> list[NamedResource]:
    """List the workflows or layouts that have a group of translations."""
    query = LIST_LAYOUT_NAMES if kind is ResourceType.LAYOUT else LIST_WORKFLOW_NAMES
    rows = await db.fetch(query, environment_id=environment_id)
    return [_named(environment_id, kind, row) for row in rows]


async def list_enabled_resources(
    db: Connection, environment_id: EnvironmentId, kind: ResourceType
) -> list[NamedResource]:
    """List the workflows or layouts whose translations are on."""
    resources = await list_resources(db, environment_id, kind)
    groups = await list_groups(db, environment_id, kind, [one.owner.id for one in resources]) if resources else {}
    return [one for one in resources if groups[one.owner.id].is_enabled]


async def list_translations(db: Connection, owner: Translated) -> list[Translation]:
    """List the translations of a resource, by their locales."""
    return [_translation_of(row) for row in await db.fetch(LIST_TRANSLATIONS, **_names(owner))]


async def find_translation(db: Connection, owner: Translated, locale: str) -> Translation | None:
    row = await db.fetch_one(FIND_TRANSLATION, **_names(owner), locale=locale)
    return None if row is None else _translation_of(row)


async def list_translations_of(
    db: Connection, environment_id: EnvironmentId, kind: ResourceType, ids: Iterable[bytes]
) -> dict[bytes, list[Translation]]:
    """Return the translations of several resources, by the id of the resource."""
    by_resource: dict[bytes, list[Translation]] = {}
    for row in await db.fetch(LIST_ALL, environment_id=environment_id, type=kind, ids=list(dict.fromkeys(ids))):
        by_resource.setdefault(row["resource_id"], []).append(_translation_of(row))
    return by_resource


async def list_translations_in(
    db: Connection, environment_id: EnvironmentId, kind: ResourceType, locale: str
) -> dict[bytes, Translation]:
    """Return all translations to a language, by the id of the resource."""
    rows = await db.fetch(LIST_OF_LOCALE, environment_id=environment_id, type=kind, locale=locale)
    return {row["resource_id"]: _translation_of(row) for row in rows}


async def describe_texts(
    db: Connection, environment_id: EnvironmentId, kind: ResourceType, ids: Sequence[bytes]
) -> dict[bytes, dict[str, Any]]:
    """Return what promotion compares of the translations of each resource: the switch, and each language."""
    groups = await list_groups(db, environment_id, kind, ids) if ids else {}
    by_resource = await list_translations_of(db, environment_id, kind, ids) if ids else {}
    return {
        resource_id: {
            "isTranslationEnabled": resource_id in groups and groups[resource_id].is_enabled,
            "translations": {text.locale: text.content for text in by_resource.get(resource_id, ())},
        }
        for resource_id in ids
    }


async def count_characters(db: Connection, owner: Translated, *, besides: Collection[str]) -> int:
    """How long all translations of a resource are, as JSON, without those to some languages."""
    rows = await db.fetch(LIST_LENGTHS, **_names(owner))
    return sum(row["length"] for row in rows if row["locale"] not in besides)


async def count_all(db: Connection, environment_id: EnvironmentId) -> tuple[int, int]:
    """How many translations the workflows and layouts of an environment have, and the bytes of them as JSON."""
    row = await db.fetch_one(COUNT_ALL, environment_id=environment_id)
    return (0, 0) if row is None else (int(row["translations"]), int(row["bytes"]))


async def count_bytes(db: Connection, environment_id: EnvironmentId, locale: str) -> int:
    """How many bytes the translations to a language are, as JSON."""
    row = await db.fetch_one(COUNT_OF_LOCALE, environment_id=environment_id, locale=locale)
    return 0 if row is None else int(row["bytes"])


async def lock_group(db: Connection, owner: Translated, now: Millis) -> None:
    """Lock the translations of a resource; a group that is made for it is off until somebody switches it on."""
    await db.execute(ENSURE_GROUP, **_names(owner), now=now)


async def put_translations(db: Connection, owner: Translated, contents: Mapping[str, Content], now: Millis) -> None:
    """Write translations by locale; the caller has locked the group."""
    for locale, content in contents.items():
        await db.execute(PUT_TRANSLATION, **_names(owner), locale=locale, content=json_text(content), now=now)


async def delete_translation(db: Connection, owner: Translated, locale: str) -> None:
    await db.execute(DELETE_TRANSLATION, **_names(owner), locale=locale)
    await raise_configuration_version(db, owner.environment_id)


async def _list_layouts(
    db: Connection, environment_id: EnvironmentId, references: Sequence[str]
) -> dict[str, NamedResource]:
    """Those of the references that name a layout; an environment has few layouts."""
    rows = await db.fetch(LIST_LAYOUTS, environment_id=environment_id) if references else []
    layouts = [_named(environment_id, ResourceType.LAYOUT, row) for row in rows]
    by_key = {layout.key: layout for layout in layouts}
    by_id = {layout.owner.id: layout for layout in layouts}
    named = {
        reference: by_key.get(reference) or by_id.get(find_layout_id(reference) or b"") for reference in references
    }
    return {reference: layout for reference, layout in named.items() if layout is not None}


def _named(environment_id: EnvironmentId, kind: ResourceType, row: Row) -> NamedResource:
    return NamedResource(owner=Translated(environment_id, kind, row["id"]), key=row["key"], name=row["name"])


def _translation_of(row: Row) -> Translation:
    return Translation(**{**dict(row), "content": json_value(row["content"])})


def _names(owner: Translated) -> dict[str, object]:
    return {"environment_id": owner.environment_id, "type": owner.type, "id": owner.id}
