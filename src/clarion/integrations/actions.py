"""What happens to integrations from more than one place."""

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.ids import EnvironmentId, IntegrationId, new_id
from clarion.integrations import store
from clarion.integrations.model import Integration
from clarion.vault import Vault
from clarion.vocabulary import Channel


async def create_in_app_integration(
    db: Connection, environment_id: EnvironmentId, *, vault: Vault, now: Millis
) -> Integration:
    """The built-in inbox that every environment starts with."""
    integration = Integration(
        environment_id=environment_id,
        id=IntegrationId(new_id(now)),
        provider_id="svc",
        channel=Channel.IN_APP,
        name="In-App",
        identifier="in-app",
        credentials={},
        conditions=[],
        active=True,
        is_primary=False,
        priority=0,
        created_at=now,
        updated_at=now,
    )
    await store.insert_integration(db, integration, vault)
    return integration
