"""Changes of integrations: each is validated and written, and the primary of the channel is chosen again."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.content.environment import EnvironmentContent, load_environment_content
from clarion.db.port import Connection
from clarion.environments.configuration import raise_configuration_version
from clarion.errors import Invalid, NotFound, Problem
from clarion.ids import ApiKeyId, EnvironmentId, IntegrationId, id_text, new_id
from clarion.integrations import store
from clarion.integrations.model import (
    CHANNELS_WITH_PRIMARY,
    Integration,
    arrange_with,
    failover_key,
    find_order_problem,
    find_problems,
    keep_proof,
    make_identifier,
    promote,
    reorder,
)
from clarion.integrations.variables import find_reference_problems, list_variables_of, resolve_credentials
from clarion.providers.definition.fields import unmask_secrets
from clarion.providers.definition.provider import Provider
from clarion.providers.registry import find_provider
from clarion.vault import Vault
from clarion.vocabulary import Channel


class IntegrationDraft(Struct, frozen=True, kw_only=True):
    """An integration to create; a name or identifier of None is generated."""

    provider: Provider | None
    provider_name: str
    """The provider as the caller spelled it; it may not exist."""
    channel: Channel
    name: str | None
    identifier: str | None
    credentials: dict[str, Any]
    conditions: list[dict[str, Any]]
    active: bool
    check: bool
    weight: int
    rate_limit: float | None


class IntegrationChanges(Struct, frozen=True, kw_only=True):
    """New values of an integration's fields, and whether to check the credentials with the provider."""

    fields: Mapping[str, Any]
    check: bool


async def create_in_app_integration(
    db: Connection, environment_id: EnvironmentId, *, vault: Vault, now: Millis
) -> Integration:
    """Create the built-in inbox that every environment starts with."""
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
    await raise_configuration_version(db, environment_id)
    return integration


def plan_creation(
    draft: IntegrationDraft,
    live: Collection[Integration],
    *,
    content: EnvironmentContent,
    environment_id: EnvironmentId,
    now: Millis,
) -> Integration:
    """Return the integration that a draft makes beside the live ones; raises Invalid if it cannot be created."""
    name = draft.name or (draft.provider.name if draft.provider else draft.provider_name)
    made = Integration(
        environment_id=environment_id,
        id=IntegrationId(new_id(now)),
        provider_id=draft.provider.id if draft.provider else draft.provider_name,
        channel=draft.channel,
        name=name,
        identifier=draft.identifier or make_identifier(name),
        credentials=draft.credentials,
        conditions=draft.conditions,
        active=draft.active,
        is_primary=False,
        priority=0,
        weight=draft.weight,
        rate_limit=draft.rate_limit,
        created_at=now,
        updated_at=now,
    )
    _refuse(_find_problems(made, draft.provider, live, content, checked=draft.check))
    return made


def plan_update(
    integration_id: IntegrationId,
    changes: IntegrationChanges,
    live: Collection[Integration],
    *,
    content: EnvironmentContent,
) -> Integration:
    """Return the changed integration; raises Invalid if it cannot be changed so."""
    before = get_live(live, integration_id)
    changed = replace(before, **changes.fields)
    if "credentials" in changes.fields:
        changed = replace(changed, credentials=unmask_secrets(changed.credentials, before.credentials))
        changed = keep_proof(changed, before)
    others = [one for one in live if one.id != integration_id]
    _refuse(_find_problems(changed, find_provider(changed.provider_id), others, content, checked=changes.check))
    return changed


async def create_integration(
    db: Connection, environment_id: EnvironmentId, draft: IntegrationDraft, *, vault: Vault, now: Millis
) -> Integration:
    """Add an integration; the first one of email or sms that can be primary becomes it."""
    live = await _begin_change(db, environment_id, vault)
    content = await load_environment_content(db, environment_id, vault=vault)
    made = plan_creation(draft, live, content=content, environment_id=environment_id, now=now)
    if made.channel is Channel.IN_APP:
        deleted = await store.find_last_deleted(db, environment_id, made.channel, vault)
        made = made if deleted is None else keep_proof(made, deleted)
    await store.insert_integration(db, made, vault)
    return get_live(await _write_changes(db, [*live, made], arrange_with(made, live), vault=vault, now=now), made.id)


async def update_integration(
    db: Connection,
    environment_id: EnvironmentId,
    integration_id: IntegrationId,
    changes: IntegrationChanges,
    *,
    vault: Vault,
    now: Millis,
) -> Integration:
    """Change the given fields; if the primary can no longer be primary, the next integration becomes it."""
    live = await _begin_change(db, environment_id, vault)
    content = await load_environment_content(db, environment_id, vault=vault)
    changed = plan_update(integration_id, changes, live, content=content)
    # The change may have fixed the cause of earlier failures.
    await store.reset_health(db, environment_id, integration_id)
    if "credentials" in changes.fields:
        await store.clear_receipts_source(db, environment_id, integration_id)
    return get_live(await _write_changes(db, live, arrange_with(changed, live), vault=vault, now=now), integration_id)


async def note_changed_variables(
    db: Connection, environment_id: EnvironmentId, keys: Collection[str], vault: Vault
) -> None:
    """Treat integrations whose credentials refer to variables that changed as if the credentials had changed."""
    for integration in await store.list_integrations(db, environment_id, vault):
        if not list_variables_of(integration).isdisjoint(keys):
            await store.reset_health(db, environment_id, integration.id)
            await store.clear_receipts_source(db, environment_id, integration.id)


async def set_primary_integration(
    db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId, *, vault: Vault, now: Millis
) -> Integration:
    """Make an integration the primary of its channel: active, and without conditions."""
    live = await _begin_change(db, environment_id, vault)
    chosen = get_live(live, integration_id)
    if chosen.channel not in CHANNELS_WITH_PRIMARY:
        raise Invalid.field("channel", "has no primary integration; only email and sms have one", chosen.channel)
    others = [one for one in live if one.id != integration_id]
    content = await load_environment_content(db, environment_id, vault=vault)
    _refuse(_find_problems(chosen, find_provider(chosen.provider_id), others, content, checked=True))
    return get_live(await _write_changes(db, live, promote(chosen, live), vault=vault, now=now), integration_id)


async def order_integrations(
    db: Connection,
    environment_id: EnvironmentId,
    channel: Channel,
    ids: Sequence[IntegrationId],
    *,
    vault: Vault,
    now: Millis,
) -> list[Integration]:
    """Set the failover order of a channel, whose first integration becomes the primary; returns them in order."""
    if channel not in CHANNELS_WITH_PRIMARY:
        raise Invalid.field("channel", "has no order; only the integrations of email and sms have one", channel)
    live = [one for one in await _begin_change(db, environment_id, vault) if one.channel is channel]
    problem = find_order_problem(ids, live)
    if problem is not None:
        _refuse(dict([problem]))
    return sorted(await _write_changes(db, live, reorder(ids, live), vault=vault, now=now), key=failover_key)


async def delete_integration(
    db: Connection,
    environment_id: EnvironmentId,
    integration_id: IntegrationId,
    *,
    deleted_by: ApiKeyId,
    vault: Vault,
    now: Millis,
) -> list[Integration]:
    """Mark an integration deleted, which frees its identifier; returns the remaining ones."""
    live = await _begin_change(db, environment_id, vault)
    deleted = replace(get_live(live, integration_id), deleted_at=now, deleted_by=deleted_by)
    await _write_changes(db, live, arrange_with(deleted, live), vault=vault, now=now)
    await store.delete_health(db, environment_id, integration_id)
    return await store.list_integrations(db, environment_id, vault)


def get_live(live: Iterable[Integration], integration_id: IntegrationId) -> Integration:
    """Return one of the live integrations; raises NotFound if it is not among them."""
    for integration in live:
        if integration.id == integration_id:
            return integration
    raise NotFound("Integration", id_text(integration_id))


async def _begin_change(db: Connection, environment_id: EnvironmentId, vault: Vault) -> list[Integration]:
    """Note the change, and list the live integrations.

    Changes are serialized by the row of the environment: the primary and the free identifiers depend on all
    integrations.
    """
    await raise_configuration_version(db, environment_id)
    return await store.list_integrations(db, environment_id, vault)


async def _write_changes(
    db: Connection, before: Iterable[Integration], after: Iterable[Integration], *, vault: Vault, now: Millis
) -> list[Integration]:
    """Write the integrations that differ; the old primary goes first, because an index allows only one."""
    stored = {one.id: one for one in before}
    written = [one if one == stored[one.id] else replace(one, updated_at=now) for one in after]
    for integration in sorted(written, key=lambda one: one.is_primary):
        if integration != stored[integration.id]:
            await store.update_integration(db, integration, vault)
    return written


def _find_problems(
    integration: Integration,
    provider: Provider | None,
    others: Collection[Integration],
    content: EnvironmentContent,
    *,
    checked: bool,
) -> dict[str, Problem]:
    # Credentials to check must be as complete as those of an active integration.
    integration = replace(integration, active=integration.active or checked)
    problems = find_problems(resolve_credentials(integration, content), provider, others)
    found = find_reference_problems(integration, content)
    return problems | {f"credentials.{name}": problem for name, problem in found.items()}


def _refuse(problems: Mapping[str, Problem]) -> None:
    if problems:
        raise Invalid({path: [problem] for path, problem in problems.items()})
