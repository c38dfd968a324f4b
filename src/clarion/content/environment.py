"""What all texts of an environment can refer to, cached by the version of its configuration."""

from collections.abc import Mapping
from functools import partial

import msgspec
from msgspec import Struct

from clarion.cache import CacheSlot
from clarion.content.links import LinkSecret
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.environments.configuration import Versioned, get_configuration_version, get_or_load
from clarion.environments.link_secrets import open_link_secret
from clarion.environments.options import decode_mail_options
from clarion.ids import EnvironmentId
from clarion.replies.options import ReplyOptions
from clarion.tracking.model import TrackingOptions
from clarion.vault import Vault

DEFAULT_LOCALE = "en_US"
"""Of organizations that have set none."""

SECRET_MASK = "•" * 8
"""What is shown instead of a secret value."""

_CONTENT: CacheSlot[EnvironmentId, Versioned["EnvironmentContent"]] = CacheSlot(limit=10_000)

FIND_ENVIRONMENT = sql("""
    SELECT e.name, e.kind, e.link_secret, e.mail_options, o.options FROM environments AS e
    JOIN organizations AS o ON o.id = e.organization_id
    WHERE e.id = :environment_id
""")
LIST_VALUES = sql("""
    SELECT v.key, v.is_secret, v.for_credentials, x.variable_id, x.value FROM environment_variable_values AS x
    JOIN environments AS e ON e.id = x.environment_id
    JOIN environment_variables AS v ON v.organization_id = e.organization_id AND v.id = x.variable_id
    WHERE x.environment_id = :environment_id
""")


class OrganizationOptions(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What an organization sets for all of its environments."""

    default_locale: str = DEFAULT_LOCALE
    """The language of people who have none, and of texts that are missing in theirs."""
    target_locales: list[str] = []
    """The languages that texts are translated to."""


class EnvironmentContent(Struct, frozen=True, kw_only=True):
    env: Mapping[str, str] = {}
    """What templates see as `env`."""
    masked_env: Mapping[str, str] = {}
    """The same without the values of secrets, for what people are shown."""
    credential_values: Mapping[str, str] = {}
    """Of the variables for credentials, which no text sees."""
    default_locale: str = DEFAULT_LOCALE
    link_secret: LinkSecret | None = None
    """None: of a deleted environment, or one made by an older version since the last start."""

    tracking: TrackingOptions = TrackingOptions()
    replies: ReplyOptions = ReplyOptions()


class ContentSource(Struct, frozen=True, kw_only=True):
    """Where a process has it from what texts refer to, beside the store."""

    vault: Vault
    public_url: str | None = None
    """The address of this service, which links in messages lead to; None: there are no such links."""
    makes_samples: bool = False
    """Whether links are samples, because nothing is sent."""


NO_CONTENT = EnvironmentContent()

decode_organization_options = msgspec.json.Decoder(OrganizationOptions).decode


async def get_environment_content(
    db: Connection, environment_id: EnvironmentId, version: int, vault: Vault
) -> EnvironmentContent:
    """Return what texts of the environment refer to, at this version of its configuration."""
    return await get_or_load(db, _CONTENT, environment_id, version, partial(load_environment_content, vault=vault))


async def find_environment_content(
    db: Connection, environment_id: EnvironmentId, *, vault: Vault
) -> EnvironmentContent:
    """The same where the version is not known."""
    return await get_environment_content(db, environment_id, await get_configuration_version(db, environment_id), vault)


async def load_environment_content(
    db: Connection, environment_id: EnvironmentId, *, vault: Vault
) -> EnvironmentContent:
    row = await db.fetch_one(FIND_ENVIRONMENT, environment_id=environment_id)
    if row is None:
        return NO_CONTENT
    options = OrganizationOptions() if row["options"] is None else decode_organization_options(row["options"])
    values = await db.fetch(LIST_VALUES, environment_id=environment_id)
    opened = {one["key"]: vault.open(one["value"], context=environment_id + one["variable_id"]) for one in values}
    hidden = {one["key"] for one in values if one["for_credentials"]}
    variables = {key: value for key, value in opened.items() if key not in hidden}
    masks = {one["key"]: SECRET_MASK for one in values if one["is_secret"] and one["key"] not in hidden}
    own_options = decode_mail_options(row["mail_options"])
    # The two names of the system win over own keys.
    system = {"name": row["name"], "type": row["kind"]}
    return EnvironmentContent(
        # Simulations are shown to people.
        env=variables | (masks if db.is_sandbox else {}) | system,
        masked_env=variables | masks | system,
        credential_values={key: SECRET_MASK if db.is_sandbox else opened[key] for key in hidden},
        default_locale=options.default_locale,
        tracking=own_options.tracking,
        replies=own_options.replies,
        link_secret=_link_secret_of(row["link_secret"], environment_id, vault),
    )


def _link_secret_of(sealed: str | None, environment_id: EnvironmentId, vault: Vault) -> LinkSecret | None:
    return None if sealed is None else LinkSecret(environment_id, open_link_secret(sealed, environment_id, vault))
