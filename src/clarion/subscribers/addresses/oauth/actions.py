"""Beginning an attempt to connect a workspace or a person, and spending it."""

from collections.abc import Sequence

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.errors import Invalid, NotFound
from clarion.ids import EnvironmentId, SubscriberKey
from clarion.integrations.model import Integration
from clarion.subscribers.addresses import connections
from clarion.subscribers.addresses.oauth import store
from clarion.subscribers.addresses.oauth.id_token import is_guid
from clarion.subscribers.addresses.oauth.model import (
    CALLBACK_PATH,
    STATE_LIFETIME,
    Attempt,
    OAuthProblem,
    OAuthStep,
    new_attempt_id,
    seal_state,
)
from clarion.subscribers.addresses.oauth.vendors import get_vendor
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import get_subscriber
from clarion.vault import Vault


class Wish(Struct, frozen=True, kw_only=True):
    """What a caller wants to connect; the rules about who may own it were checked."""

    integration_identifier: str
    step: OAuthStep
    subscriber_key: SubscriberKey | None
    is_shared: bool
    context_keys: tuple[str, ...]
    connection_identifier: str | None
    scope: Sequence[str] | None
    links_person: bool
    replaces: bool = True
    """Whether the caller may change what was connected before, and not only add."""


async def begin_attempt(
    db: Connection, environment_id: EnvironmentId, wish: Wish, *, base: str, vault: Vault, now: Millis
) -> str:
    """Return the address to send the browser to; raises NotFound and Invalid."""
    account = await store.get_account(db, environment_id, wish.integration_identifier, vault)
    vendor, client = get_vendor(account)
    person = None if wish.subscriber_key is None else await get_subscriber(db, environment_id, wish.subscriber_key)
    await _check_connection(db, environment_id, wish, account, person, vault)
    attempt = Attempt(
        id=new_attempt_id(),
        environment_id=environment_id,
        integration_id=account.id,
        expires_at=Millis(now + STATE_LIFETIME),
        step=wish.step,
        redirect_uri=f"{base}{CALLBACK_PATH}",
        context_keys=wish.context_keys,
        subscriber_key=wish.subscriber_key,
        is_shared=wish.is_shared,
        connection_identifier=wish.connection_identifier,
        links_person=wish.links_person and wish.subscriber_key is not None,
        replaces=wish.replaces,
        tenant=await _find_tenant(db, account, wish, person, vault) if vendor.signs_in_to_tenants else None,
    )
    return vendor.authorize_url(client, attempt, seal_state(attempt, vault), wish.scope)


async def take_attempt(db: Connection, attempt: Attempt, vault: Vault, now: Millis) -> Integration:
    """Spend an attempt, and return the integration that it is for; raises OAuthProblem and NotFound."""
    if not await store.spend_attempt(db, attempt, now):
        raise OAuthProblem("This address was used already. Begin again where you came from.")
    return await store.get_account_by_id(db, attempt.environment_id, attempt.integration_id, vault)


async def _find_tenant(
    db: Connection, account: Integration, wish: Wish, person: Subscriber | None, vault: Vault
) -> str | None:
    """The tenant of the connection by which a person is to be linked: nobody signs in to another one."""
    if wish.step is not OAuthStep.LINK:
        return None
    environment_id = account.environment_id
    if wish.connection_identifier is not None:
        connection = await connections.find_connection(db, environment_id, wish.connection_identifier, vault)
    else:
        own = (None if person is None else person.id, wish.context_keys)
        shared = (None, wish.context_keys)
        connection = await connections.find_connection_of(
            db, environment_id, account.id, own, vault
        ) or await connections.find_connection_of(db, environment_id, account.id, shared, vault)
    tenant = "" if connection is None else connection.workspace["id"].lower()
    return tenant if is_guid(tenant) else None


async def _check_connection(
    db: Connection,
    environment_id: EnvironmentId,
    wish: Wish,
    account: Integration,
    person: Subscriber | None,
    vault: Vault,
) -> None:
    """Refuse the identifier of a connection that belongs to somebody or something else."""
    if wish.connection_identifier is None:
        return
    existing = await connections.find_connection(db, environment_id, wish.connection_identifier, vault)
    if existing is None and wish.step is OAuthStep.LINK:
        raise NotFound("Channel connection", wish.connection_identifier)
    owner = None if wish.is_shared or person is None else person.id
    if existing is None:
        known = await connections.find_connection_of(db, environment_id, account.id, (owner, wish.context_keys), vault)
        if known is not None:
            raise Invalid.field(
                "connectionIdentifier",
                f"is new, but there is the connection '{known.identifier}' of this subscriber and context; name that",
                wish.connection_identifier,
            )
        return
    owners = {owner, None} if wish.step is OAuthStep.LINK else {owner}
    is_own = existing.subscriber_id in owners and existing.context_keys == wish.context_keys
    if existing.integration.id != account.id or not is_own:
        raise Invalid.field(
            "connectionIdentifier",
            "belongs to another integration, subscriber or context",
            wish.connection_identifier,
        )
    if wish.step is OAuthStep.CONNECT and not wish.replaces:
        raise Invalid.field(
            "connectionIdentifier",
            "is connected already, and this session, which is not proven by a hash, may not connect it again",
            wish.connection_identifier,
        )
