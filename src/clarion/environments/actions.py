"""Creates and changes organizations, environments and API keys, for the API, the command line and the first start."""

from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.environments import store
from clarion.environments.link_secrets import insert_link_secret
from clarion.environments.model import ApiKey, Environment, hash_key, make_identifier, make_key_text
from clarion.environments.options import EnvironmentOptions
from clarion.errors import Invalid, Problem
from clarion.ids import ApiKeyId, EnvironmentId, MemberId, OrganizationId, id_text, new_id
from clarion.integrations.actions import create_in_app_integration
from clarion.limits.limiter import Limits, ReadLimits
from clarion.vault import Vault
from clarion.vocabulary import Scope

_KINDS = (("Development", "dev"), ("Production", "prod"))

MAX_ENVIRONMENTS = 50
"""Of one organization."""
FIRST_KEY = "First key"
UNKNOWN_PARENT = "must be the id of another environment of the organization"


class EnvironmentDraft(Struct, frozen=True, kw_only=True):
    """An environment to create."""

    name: str
    kind: str = "dev"
    parent_id: EnvironmentId | None = None
    options: EnvironmentOptions = EnvironmentOptions()


class KeyRequest(Struct, frozen=True, kw_only=True):
    """A key to create; `text` is the secret if the operator chose it."""

    name: str
    scopes: frozenset[Scope] = frozenset({Scope.ALL})
    expires_at: Millis | None = None
    text: str | None = None
    created_by: MemberId | None = None


class NewKey(Struct, frozen=True, kw_only=True):
    """A new key with its secret, which is shown once."""

    record: ApiKey
    text: str


class NewEnvironment(Struct, frozen=True, kw_only=True):
    """A new environment with its first API key."""

    environment: Environment
    key: NewKey


async def create_organization(
    db: Connection, *, name: str, identifiers: dict[str, str | None], vault: Vault, now: Millis
) -> list[Environment]:
    """Create an organization with Development and Production, each with an inbox and without an API key."""
    created = await create_without_inboxes(db, name=name, identifiers=identifiers, vault=vault, now=now)
    for environment in created:
        await create_in_app_integration(db, environment.id, vault=vault, now=now)
    return created


async def create_without_inboxes(
    db: Connection, *, name: str, identifiers: dict[str, str | None], vault: Vault, now: Millis
) -> list[Environment]:
    """Create an organization with its environments alone; `identifiers` are by name, None generates one."""
    organization_id = OrganizationId(new_id(now))
    await store.insert_organization(db, organization_id, name, now)
    created: list[Environment] = []
    for environment_name, kind in _KINDS:
        parent_id = created[0].id if created else None
        draft = EnvironmentDraft(name=environment_name, kind=kind, parent_id=parent_id)
        environment = _make_environment(organization_id, draft, now)
        environment = replace(environment, identifier=identifiers.get(environment_name) or environment.identifier)
        await store.insert_environment(db, environment)
        await insert_link_secret(db, environment.id, vault)
        created.append(environment)
    return created


async def list_environments_to_change(db: Connection, organization_id: OrganizationId) -> list[Environment]:
    """List the environments of an organization and lock them: others that change them wait for this unit of work."""
    await store.lock_organization(db, organization_id)
    return await store.list_environments(db, organization_id)


async def create_environment(
    db: Connection,
    siblings: Collection[Environment],
    draft: EnvironmentDraft,
    *,
    key: KeyRequest,
    vault: Vault,
    now: Millis,
) -> NewEnvironment:
    """Create an environment beside its locked siblings, with an inbox and an API key; raises Invalid."""
    environment = _make_environment(next(iter(siblings)).organization_id, draft, now)
    problems = _find_problems(environment, siblings)
    if len(siblings) >= MAX_ENVIRONMENTS:
        problems["name"] = [Problem(f"is one too many: an organization has up to {MAX_ENVIRONMENTS} environments")]
    if problems:
        raise Invalid(problems)
    await store.insert_environment(db, environment)
    await insert_link_secret(db, environment.id, vault)
    await create_in_app_integration(db, environment.id, vault=vault, now=now)
    return NewEnvironment(
        environment=environment, key=await create_api_key(db, environment.id, key, vault=vault, now=now)
    )


async def change_environment(
    db: Connection,
    siblings: Collection[Environment],
    before: Environment,
    fields: Mapping[str, Any],
    now: Millis,
) -> tuple[Environment, Environment]:
    """Change fields of one of the locked environments; returns it as it was and as it is.

    If nothing differs, nothing is written.
    """
    after = replace(before, **fields)
    if after == before:
        return before, before
    if problems := _find_problems(after, [one for one in siblings if one.id != before.id]):
        raise Invalid(problems)
    after = replace(after, updated_at=now)
    await store.update_environment(db, after)
    return before, after


async def create_api_key(
    db: Connection, environment_id: EnvironmentId, request: KeyRequest, *, vault: Vault, now: Millis
) -> NewKey:
    """Create an API key: its hash is stored to authenticate callers, and the key itself sealed, to check hashes."""
    secret = request.text or make_key_text()
    key = ApiKey(
        environment_id=environment_id,
        id=ApiKeyId(new_id(now)),
        hash=hash_key(secret),
        name=request.name,
        hint=secret[-4:],
        scopes=request.scopes,
        created_at=now,
        expires_at=request.expires_at,
        last_used_at=None,
        revoked_at=None,
        created_by=request.created_by,
    )
    await store.insert_api_key(db, key, secret, vault)
    return NewKey(record=key, text=secret)


def make_limits_reader(defaults: Limits, ceilings: Limits) -> ReadLimits:
    """`defaults` are for environments that set none of their own; no limit is higher than the ceiling."""

    async def read_limits(db: Connection, environment_id: EnvironmentId) -> Limits:
        options = await store.get_options(db, environment_id)
        wanted = {**ceilings, **defaults, **options.limits}
        return {category: limit.within(ceilings.get(category)) for category, limit in wanted.items()}

    return read_limits


def _make_environment(organization_id: OrganizationId, draft: EnvironmentDraft, now: Millis) -> Environment:
    return Environment(
        id=EnvironmentId(new_id(now)),
        organization_id=organization_id,
        parent_id=draft.parent_id,
        name=draft.name,
        kind=draft.kind,
        identifier=make_identifier(),
        options=draft.options,
        created_at=now,
        updated_at=now,
    )


def _find_problems(environment: Environment, others: Collection[Environment]) -> dict[str, list[Problem]]:
    problems: dict[str, list[Problem]] = {}
    if any(one.name == environment.name for one in others):
        problems["name"] = [Problem("is the name of another environment of the organization", environment.name)]
    if environment.parent_id is not None and all(one.id != environment.parent_id for one in others):
        problems["parentId"] = [Problem(UNKNOWN_PARENT, id_text(environment.parent_id))]
    return problems
