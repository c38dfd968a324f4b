"""Which resources have translations: on, off, copied, deleted."""

import pytest

from clarion.clock import Millis
from clarion.content.translations.catalogs import load_languages
from clarion.content.translations.groups import (
    ResourceType,
    Translated,
    copy_group,
    delete_group,
    is_translation_enabled,
    list_groups,
    set_translation_enabled,
)
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.environments.configuration import get_configuration_version
from tests.support import Site

NOW = Millis(1_767_225_600_000)
LATER = Millis(NOW + 1_000)
LIST_TEXTS = sql("""
    SELECT locale, content FROM translations
    WHERE environment_id = :environment_id AND resource_type = :type AND resource_id = :id ORDER BY locale
""")
INSERT_TEXTS = sql("""
    INSERT INTO translations (environment_id, resource_type, resource_id, locale, content, created_at, updated_at)
    VALUES (:environment_id, :type, :id, :locale, :content, :now, :now)
""")


@pytest.fixture
def layout(site: Site) -> Translated:
    return Translated(site.development.id, ResourceType.LAYOUT, bytes(range(16)))


async def _write(db: Connection, resource: Translated, **texts: str) -> None:
    for locale, content in texts.items():
        names = {"environment_id": resource.environment_id, "type": resource.type, "id": resource.id}
        await db.execute(INSERT_TEXTS, **names, locale=locale, content=content, now=NOW)


async def _read(db: Connection, resource: Translated) -> dict[str, str]:
    rows = await db.fetch(LIST_TEXTS, environment_id=resource.environment_id, type=resource.type, id=resource.id)
    return {row["locale"]: row["content"] for row in rows}


async def test_switching_off_keeps_the_texts(database: Database, layout: Translated) -> None:
    async def work(db: Connection) -> None:
        assert await set_translation_enabled(db, layout, enabled=True, now=NOW)
        await _write(db, layout, en_US='{"a": "b"}')
        assert await set_translation_enabled(db, layout, enabled=False, now=NOW)
        assert not await is_translation_enabled(db, layout)
        assert await _read(db, layout) == {"en_US": '{"a": "b"}'}

    await database.transaction(work)


async def test_what_is_so_already_changes_nothing(database: Database, layout: Translated) -> None:
    async def work(db: Connection) -> None:
        before = await get_configuration_version(db, layout.environment_id)
        assert not await set_translation_enabled(db, layout, enabled=False, now=NOW)
        assert not await list_groups(db, layout.environment_id, layout.type, [layout.id])
        assert await get_configuration_version(db, layout.environment_id) == before
        assert await set_translation_enabled(db, layout, enabled=True, now=NOW)
        assert not await set_translation_enabled(db, layout, enabled=True, now=NOW)
        assert await get_configuration_version(db, layout.environment_id) == before + 1

    await database.transaction(work)


async def test_a_copy_has_the_same_texts_in_another_environment(
    database: Database, layout: Translated, site: Site
) -> None:
    target = Translated(site.production.id, layout.type, bytes(16))

    async def work(db: Connection) -> None:
        await set_translation_enabled(db, layout, enabled=True, now=NOW)
        await _write(db, layout, en_US="{}", de_DE='{"a": "b"}')
        await _write(db, target, fr_FR="{}")
        await copy_group(db, layout, target, NOW)
        assert await is_translation_enabled(db, target)
        assert await _read(db, target) == {"en_US": "{}", "de_DE": '{"a": "b"}'}

    await database.transaction(work)


async def test_a_copy_that_switches_off_does_so_for_later_triggers_alone(
    database: Database, layout: Translated, site: Site
) -> None:
    target = Translated(site.production.id, layout.type, bytes(16))

    async def work(db: Connection) -> None:
        await _write(db, layout, en_US='{"a": "b"}')
        await set_translation_enabled(db, layout, enabled=True, now=NOW)
        await set_translation_enabled(db, layout, enabled=False, now=NOW)
        await set_translation_enabled(db, target, enabled=True, now=NOW)
        await copy_group(db, layout, target, LATER)
        await copy_group(db, layout, target, Millis(LATER + 1))

        languages = await load_languages(db, target)
        earlier = languages.find_catalog("en_US", "en_US", accepted_at=Millis(LATER - 1))
        later = languages.find_catalog("en_US", "en_US", accepted_at=LATER)
        preview = languages.find_catalog("en_US", "en_US")
        assert [sorted(one.texts) for one in (earlier, later, preview)] == [["a"], [], []]
        await delete_group(db, layout)
        await copy_group(db, layout, target, LATER)
        assert not await list_groups(db, target.environment_id, target.type, [target.id])

    await database.transaction(work)


async def test_deleting_leaves_those_of_others(database: Database, layout: Translated) -> None:
    workflow = Translated(layout.environment_id, ResourceType.WORKFLOW, layout.id)

    async def work(db: Connection) -> None:
        for resource in (layout, workflow):
            await set_translation_enabled(db, resource, enabled=True, now=NOW)
            await _write(db, resource, en_US="{}")
        assert await delete_group(db, layout)
        assert not await delete_group(db, layout)
        assert await _read(db, layout) == {}
        assert await _read(db, workflow) == {"en_US": "{}"}
        assert await is_translation_enabled(db, workflow)

    await database.transaction(work)
