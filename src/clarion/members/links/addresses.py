"""The addresses of links that people get.

Tokens are in the fragment: browsers do not send it, so that no log of a server or a proxy has it.
"""

import logging

from clarion.clock import Millis
from clarion.db.port import Connection, Database
from clarion.environments.store import list_environments
from clarion.errors import StoreUnavailable
from clarion.members.actions import NewLink, create_setup_link
from clarion.members.model import LinkKind
from clarion.settings.addresses import local_address
from clarion.settings.model import Settings

OIDC_CALLBACK = "/v1/auth/oidc/callback"

_PAGES = {
    LinkKind.SETUP: "/dashboard/setup",
    LinkKind.INVITATION: "/dashboard/invitation",
    LinkKind.RESET: "/dashboard/reset",
}

log = logging.getLogger(__name__)


def link_url(settings: Settings, link: NewLink) -> str:
    return f"{base_url(settings)}{_PAGES[link.record.kind]}#{link.token}"


def redirect_url(settings: Settings) -> str:
    """Where the OpenID Connect provider sends people back to."""
    return settings.oidc_redirect or base_url(settings) + OIDC_CALLBACK


def base_url(settings: Settings) -> str:
    """The address of this service for people: that of the settings, never one that a request claims."""
    if settings.public_url is not None:
        return settings.public_url.rstrip("/")
    return local_address(settings.host, settings.port)


async def make_setup_url(database: Database, settings: Settings, now: Millis) -> str | None:
    """The address where the first owner signs up, new each time; None if there are members already."""

    async def make(db: Connection) -> NewLink | None:
        environments = await list_environments(db)
        return await create_setup_link(db, environments[0].organization_id, now) if environments else None

    try:
        link = await database.transaction(make)
    except StoreUnavailable as error:
        # A store that is read-only for now is served for reading.
        log.warning("No set-up link", extra={"error": str(error)})
        return None
    return None if link is None else link_url(settings, link)
