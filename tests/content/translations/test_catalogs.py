"""The cache of texts, on both databases."""

from clarion.clock import Millis
from clarion.content.translations.actions import write_translations
from clarion.content.translations.catalogs import get_languages
from clarion.content.translations.groups import ResourceType, Translated, set_translation_enabled
from clarion.db.port import Connection, Database
from tests.support import Site

NOW = Millis(1_767_225_600_000)


async def test_texts_are_loaded_once_for_each_version_of_the_configuration(database: Database, site: Site) -> None:
    owner = Translated(site.development.id, ResourceType.WORKFLOW, bytes(range(16)))

    async def change(db: Connection) -> None:
        await write_translations(db, owner, {"en_US": {"a": "b"}}, NOW)
        await set_translation_enabled(db, owner, enabled=True, now=NOW)

    before = await database.read(lambda db: get_languages(db, owner, 1))
    await database.transaction(change)
    same = await database.read(lambda db: get_languages(db, owner, 1))
    after = await database.read(lambda db: get_languages(db, owner, 2))

    assert before is same
    assert not before.is_enabled
    assert (after.is_enabled, after.by_locale) == (True, {"en_US": {"a": "b"}})
