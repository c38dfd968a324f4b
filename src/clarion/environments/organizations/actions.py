"""Sets up organizations and environments, and deletes them: for the API, the command line and the first start."""

from collections.abc import Collection

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.environments import actions as environments
from clarion.environments.actions import EnvironmentDraft, KeyRequest
from clarion.environments.model import Environment
from clarion.environments.organizations import store
from clarion.environments.organizations.model import NewEnvironment
from clarion.environments.store import list_environments
from clarion.ids import OrganizationId
from clarion.integrations.actions import create_in_app_integration
from clarion.vault import Vault

FIRST_KEY = "First key"


async def create_organization(
    db: Connection, *, name: str, identifiers: dict[str, str | None], vault: Vault, now: Millis
) -> list[Environment]:
    """Create an organization with Development and Production, each with an inbox and without an API key."""
    made = await environments.create_organization(db, name=name, identifiers=identifiers, now=now)
    for environment in made:
        await create_in_app_integration(db, environment.id, vault=vault, now=now)
    return made


async def create_environment(
    db: Connection,
    siblings: Collection[Environment],
    draft: EnvironmentDraft,
    *,
    key: KeyRequest,
    vault: Vault,
    now: Millis,
) -> NewEnvironment:
    """Create an environment beside its locked siblings, with an inbox and an API key."""
    made = await environments.create_environment(db, siblings, draft, now)
    await create_in_app_integration(db, made.id, vault=vault, now=now)
    first_key = await environments.create_api_key(db, made.id, key, vault=vault, now=now)
    return NewEnvironment(environment=made, key=first_key)


async def delete_environment(db: Connection, environment: Environment, now: Millis) -> None:
    """Delete a locked environment: it ends now, and its rows are deleted in the background."""
    await store.mark_environment_deleted(db, environment, now)


async def delete_organization(db: Connection, organization_id: OrganizationId, now: Millis) -> list[Environment]:
    """Delete all environments of an organization; its own row goes with the last of theirs."""
    deleted = await environments.list_environments_to_change(db, organization_id)
    for environment in deleted:
        await store.mark_environment_deleted(db, environment, now)
    return deleted


async def has_data(db: Connection, organization_id: OrganizationId) -> bool:
    """Return whether an environment of the organization has been used."""
    for environment in await list_environments(db, organization_id):
        if await store.has_data(db, environment.id):
            return True
    return False
