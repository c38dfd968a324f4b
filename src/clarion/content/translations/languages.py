"""The languages of an organization: the default one, and those that texts are translated to."""

from clarion.content.environment import OrganizationOptions, decode_organization_options
from clarion.content.translations.wire import LanguageSettings
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, OrganizationId
from clarion.jsontext import json_text

FIND_OPTIONS = sql("""
    SELECT o.options FROM environments AS e JOIN organizations AS o ON o.id = e.organization_id
    WHERE e.id = :environment_id
""")
UPDATE_OPTIONS = sql("UPDATE organizations SET options = :options WHERE id = :organization_id")
RAISE_VERSIONS = sql("""
    UPDATE environments SET configuration_version = configuration_version + 1
    WHERE organization_id = :organization_id
""")


async def find_options(db: Connection, environment_id: EnvironmentId) -> OrganizationOptions:
    row = await db.fetch_one(FIND_OPTIONS, environment_id=environment_id)
    return (
        OrganizationOptions() if row is None or row["options"] is None else decode_organization_options(row["options"])
    )


async def get_languages_of(db: Connection, environment_id: EnvironmentId) -> LanguageSettings:
    options = await find_options(db, environment_id)
    return LanguageSettings(default_locale=options.default_locale, target_locales=options.target_locales)


async def update_options(db: Connection, organization_id: OrganizationId, options: OrganizationOptions) -> None:
    """Write what holds for all environments of an organization; the caller has locked its row."""
    await db.execute(UPDATE_OPTIONS, organization_id=organization_id, options=json_text(options))
    await db.execute(RAISE_VERSIONS, organization_id=organization_id)
