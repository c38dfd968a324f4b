"""Has the provider of an integration report deliveries to us, where it has an API for that."""

import asyncio
from functools import partial
from typing import Final

from msgspec import UNSET, UnsetType

from clarion.audit.model import Action
from clarion.audit.recording import author_of, record
from clarion.clock import SECOND, Millis
from clarion.db.leases import claim_lease, release_lease
from clarion.db.port import Connection
from clarion.errors import InProgress
from clarion.http.operation import DetachedCall, Transaction, operation
from clarion.http.wire import Wire
from clarion.ids import EnvironmentId, IntegrationId, new_id
from clarion.integrations import actions, store
from clarion.integrations.callbacks import receipts_url
from clarion.integrations.model import Integration
from clarion.integrations.variables import with_variables
from clarion.integrations.wire import IntegrationOut
from clarion.members.actions import base_url
from clarion.providers.definition.references import list_references
from clarion.providers.definition.result import SendFailure
from clarion.secret import Secret
from clarion.vocabulary import Scope

_HTTPS = "https://"
TIMEOUT_SECONDS: Final = 90.0
"""Of all calls of the provider together."""
LEASE: Final = Millis(120 * SECOND)
"""Longer than all of it takes, so that it ends by itself only when the process has died."""


class AutoConfigurationOut(Wire):
    success: bool
    """Whether the provider reports to us now."""
    message: str | UnsetType = UNSET
    """Why it does not, and what to do instead."""
    integration: IntegrationOut | UnsetType = UNSET
    """The integration, without its credentials."""


@operation(
    "POST",
    "/v1/integrations/{integrationId}/auto-configure",
    scope=Scope.INTEGRATIONS_WRITE,
    transaction=Transaction.NONE,
    refusals=(409,),
)
async def auto_configure_integration(call: DetachedCall, integration_id: IntegrationId) -> AutoConfigurationOut:
    """Register the address of receipts at SendGrid, Resend or Mailgun, and keep the key that signs them.

    Doing it again changes the webhook that is there. What the provider refuses is told with the status 200. It is
    done by one request at a time: two of them would each find no webhook, and make one.
    """
    owner, lease = new_id(call.now), lease_name(call.environment_id, integration_id)
    until = Millis(call.now + LEASE)
    claim = partial(claim_lease, name=lease, owner=owner, until=until, now=call.now)
    if not await call.database.transaction(claim):
        raise InProgress("The provider is being asked for this integration already; try again in a minute")
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return await _register(call, integration_id)
    except TimeoutError:
        return _refused("The provider took too long; do it again, which changes the webhook that is there by then")
    finally:
        await call.database.transaction(partial(release_lease, name=lease, owner=owner))


def lease_name(environment_id: EnvironmentId, integration_id: IntegrationId) -> str:
    # With the environment, so that no other one can hold it.
    return f"auto-configure {environment_id.hex()} {integration_id.hex()}"


async def _register(call: DetachedCall, integration_id: IntegrationId) -> AutoConfigurationOut:
    services, vault = call.services, call.services.vault

    async def find(db: Connection) -> tuple[Integration, Integration]:
        found = await store.get_integration(db, call.environment_id, integration_id, vault)
        return found, await with_variables(db, found, vault)

    stored, integration = await call.database.read(find)
    if list_references(stored.credentials.get("secretKey")):
        return _refused("The credential secretKey refers to a variable, where the key cannot be stored; empty it first")
    base = base_url(services.settings)
    if not base.startswith(_HTTPS):
        return _refused(f"Providers report to public addresses: CLARION_PUBLIC_URL must begin with {_HTTPS}")
    url = receipts_url(base, vault, integration.environment_id, integration.id)
    try:
        key = await services.gateway.register_receipts(integration.provider_id, integration.credentials, url)
    except SendFailure as failure:
        return _refused(f"The provider refuses: {failure.message}")
    if key is None:
        name = services.names.to_wire(integration.provider_id)
        way_out = "register the address of receipts-address at the provider yourself"
        return _refused(f"The provider '{name}' has no API for this; {way_out}")
    changed = await call.database.transaction(partial(_keep_key, call=call, asked=(stored, integration), key=key))
    if changed is None:
        return _refused(
            "The credentials were changed while the provider was asked; do it again. If they are of another account "
            f"now, delete the webhook to {base} in the one of before"
        )
    shown = IntegrationOut.of(
        changed,
        call.caller.organization_id,
        provider_id=services.names.to_wire(changed.provider_id),
        credentials={},
    )
    return AutoConfigurationOut(success=True, integration=shown)


def _refused(message: str) -> AutoConfigurationOut:
    return AutoConfigurationOut(success=False, message=message)


async def _keep_key(
    db: Connection, call: DetachedCall, asked: tuple[Integration, Integration], key: Secret
) -> Integration | None:
    """Store the key that signs the receipts; None if it may be that of another account than the one of now.

    `asked` is the integration as it was stored, and as the provider was called.
    """
    environment_id, vault = call.environment_id, call.services.vault
    before = await store.get_integration(db, environment_id, asked[0].id, vault)
    called = await with_variables(db, before, vault)
    if before.credentials.get("secretKey") == key.reveal():
        return before
    if (before.credentials, called.credentials) != tuple(one.credentials for one in asked):
        return None
    credentials = {**before.credentials, "secretKey": key.reveal()}
    changes = actions.IntegrationChanges(fields={"credentials": credentials}, check=False)
    changed = await actions.update_integration(db, environment_id, before.id, changes, vault=vault, now=call.now)
    await record(db, Action.INTEGRATION_UPDATE, author_of(call), call.now, before=before, after=changed)
    return changed
