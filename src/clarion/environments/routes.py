"""Environments, keys and the health check."""

from functools import partial

from msgspec import UnsetType

from clarion import __version__
from clarion.audit.model import Action
from clarion.audit.recording import author_of, record_event, record_request
from clarion.bus import Signal
from clarion.clock import Millis, iso_text
from clarion.db.query import sql
from clarion.environments import actions, store
from clarion.environments.access import Reach, access_environment
from clarion.environments.model import ApiKey, list_missing_scopes, outlives
from clarion.environments.wire import (
    ApiKeyIn,
    ApiKeyOut,
    ApiKeyPatch,
    EnvironmentOut,
    EnvironmentPatch,
    HealthOut,
    HealthPart,
    NewApiKeyOut,
    ScopeInfoOut,
)
from clarion.errors import Forbidden, Invalid, NotFound
from clarion.http.operation import Call, DetachedCall, operation
from clarion.http.wire import IdText, MomentText
from clarion.ids import ApiKeyId, EnvironmentId, id_text
from clarion.tracking.domains import check_domain
from clarion.vocabulary import GIVEN_BY_NAME, SCOPE_DESCRIPTIONS, Scope
from clarion.webhooks.callbacks import ensure_callback_endpoint


@operation("GET", "/v1/health-check", public=True)
async def get_health(call: Call) -> HealthOut:
    """Check whether the service and its database respond."""
    await call.db.fetch_one(sql("SELECT 1 AS alive"))
    parts = {"db": HealthPart(status="up"), "apiVersion": HealthPart(status="up", version=__version__)}
    return HealthOut(status="ok", info=parts, error={}, details=parts)


@operation("GET", "/v1/environments", scope=Scope.ENVIRONMENTS_READ)
async def list_environments(call: Call) -> list[EnvironmentOut]:
    """List the environments that the caller can name: an API key its own, a member those that they can enter.

    A key with the scope `organization:reach` sees all environments of the organization.
    """
    reach = await Reach.read(call.db, call.caller)
    return [EnvironmentOut.of(environment) for environment in reach.list()]


@operation("GET", "/v1/environments/me", scope=Scope.ENVIRONMENTS_READ)
async def get_environment(call: Call) -> EnvironmentOut:
    """Retrieve the environment of the request."""
    return EnvironmentOut.of(await access_environment(call, call.environment_id))


async def check_tracking_domain(call: DetachedCall, environment_id: EnvironmentId, body: EnvironmentPatch) -> None:
    """Refuse a host for tracked links that leads elsewhere; this waits for its answer."""
    public_url, tracking = call.services.settings.public_url, body.tracking
    if public_url is None or tracking is None or isinstance(tracking, UnsetType):
        return
    if tracking.domain is None or isinstance(tracking.domain, UnsetType):
        return
    options = await call.database.read(partial(store.get_mail_options, environment_id=environment_id))
    domain = str(tracking.domain).lower()
    if domain != options.tracking.domain:
        await check_domain(domain, public_url, call.services.gateway, call.services.vault, call.now)


@operation(
    "PATCH",
    "/v1/environments/{environmentId}",
    scope=Scope.ENVIRONMENTS_WRITE,
    body=EnvironmentPatch,
    precheck=check_tracking_domain,
)
async def update_environment(call: Call, environment_id: EnvironmentId, body: EnvironmentPatch) -> EnvironmentOut:
    """Change the name, the time zone, the rate limits, the retention or the tracking of an environment.

    An API key changes its own, and others of the organization with the scope `organization:reach`.
    """
    return await _update_environment(call, environment_id, body)


@operation(
    "PUT",
    "/v1/environments/{environmentId}",
    scope=Scope.ENVIRONMENTS_WRITE,
    body=EnvironmentPatch,
    precheck=check_tracking_domain,
)
async def put_environment(call: Call, environment_id: EnvironmentId, body: EnvironmentPatch) -> EnvironmentOut:
    """Change an environment as PATCH does: what is left out stays as it is."""
    return await _update_environment(call, environment_id, body)


@operation("POST", "/v1/environments/sessions/revoke", scope=Scope.ENVIRONMENTS_WRITE, status=204)
async def revoke_sessions(call: Call) -> None:
    """End all sessions of subscribers of the API key's environment; a page begins a new one when it is loaded."""
    await store.raise_session_epoch(call.db, call.environment_id)
    environment = await access_environment(call, call.environment_id)
    await record_event(call.db, Action.ENVIRONMENT_REVOKE_SESSIONS, environment, author_of(call), call.now)


@operation("GET", "/v1/environments/api-keys", scope=Scope.ENVIRONMENTS_READ)
async def list_api_keys(call: Call) -> list[ApiKeyOut]:
    """List the API keys of the environment, without their secrets."""
    return [ApiKeyOut.of(key) for key in await store.list_api_keys(call.db, call.environment_id)]


@operation("GET", "/v1/scopes", scope=Scope.ENVIRONMENTS_READ)
async def list_scopes(_: Call) -> list[ScopeInfoOut]:
    """List the scopes that an API key can have, and what each of them allows."""
    return [ScopeInfoOut(scope=one, description=SCOPE_DESCRIPTIONS[one]) for one in Scope]


@operation("POST", "/v1/environments/api-keys", scope=Scope.ENVIRONMENTS_WRITE, status=201, body=ApiKeyIn)
async def create_api_key(call: Call, body: ApiKeyIn) -> NewApiKeyOut:
    """Create an API key; the answer is the only place that shows its secret."""
    scopes = frozenset(body.scopes)
    _require_grantable(call, scopes, "grant")
    own = call.caller.expires_at
    expires_at = own if isinstance(body.expires_at, UnsetType) else _granted_expiry(call, body.expires_at)
    member = call.caller.member
    request = actions.KeyRequest(
        name=body.name, scopes=scopes, expires_at=expires_at, created_by=None if member is None else member.id
    )
    made = await actions.create_api_key(call.db, call.environment_id, request, vault=call.services.vault, now=call.now)
    await record_request(call, Action.API_KEY_CREATE, after=made.record)
    call.after_commit.append(lambda: call.services.bus.publish(Signal.API_KEY_CHANGED))
    return NewApiKeyOut(key=made.text, api_key=ApiKeyOut.of(made.record))


@operation("PATCH", "/v1/environments/api-keys/{apiKeyId}", scope=Scope.ENVIRONMENTS_WRITE, body=ApiKeyPatch)
async def update_api_key(call: Call, key_id: ApiKeyId, body: ApiKeyPatch) -> ApiKeyOut:
    """Rename an API key, or set when it expires: a new key and an old one overlap until then."""
    key = await _get_api_key(call, key_id)
    _require_grantable(call, key.scopes, "change")
    expires_at = key.expires_at
    if not isinstance(body.expires_at, UnsetType):
        expires_at = _granted_expiry(call, body.expires_at)
    name = key.name if isinstance(body.name, UnsetType) else body.name
    await store.update_api_key(call.db, call.environment_id, key_id, name=name, expires_at=expires_at)
    call.after_commit.append(lambda: call.services.bus.publish(Signal.API_KEY_CHANGED))
    changed = await _get_api_key(call, key_id)
    await record_request(call, Action.API_KEY_UPDATE, before=key, after=changed)
    return ApiKeyOut.of(changed)


@operation("DELETE", "/v1/environments/api-keys/{apiKeyId}", scope=Scope.ENVIRONMENTS_WRITE, status=204)
async def revoke_api_key(call: Call, key_id: ApiKeyId) -> None:
    """Revoke an API key at once."""
    key = await _get_api_key(call, key_id)
    _require_scopes(call, key.scopes, "revoke", call.caller.scopes | call.caller.grantable_scopes)
    if await store.revoke_api_key(call.db, call.environment_id, key_id, call.now):
        await record_request(call, Action.API_KEY_REVOKE, before=key)
    call.after_commit.append(lambda: call.services.bus.publish(Signal.API_KEY_CHANGED))


async def _update_environment(call: Call, environment_id: EnvironmentId, body: EnvironmentPatch) -> EnvironmentOut:
    reach = await Reach.lock(call.db, call.caller)
    current = reach.get(environment_id, Scope.ENVIRONMENTS_WRITE)
    if not isinstance(body.identifier, UnsetType) and body.identifier != current.identifier:
        raise Invalid.field("identifier", "cannot be changed: pages with an inbox have it", body.identifier)
    if isinstance(body.parent_id, IdText) and not call.caller.can_enter(EnvironmentId(body.parent_id.id)):
        raise Invalid.field("parentId", actions.UNKNOWN_PARENT, body.parent_id)
    fields = body.fields(current, call.services.settings)
    before, after = await actions.change_environment(call.db, reach.all, current, fields, call.now)
    await record_request(call, Action.ENVIRONMENT_UPDATE, before=before, after=after)
    if after.mail.replies.domain is not None:
        await ensure_callback_endpoint(call.db, after.id, call.services.vault, call.now)
    if after.options.limits != before.options.limits:
        call.after_commit.append(lambda: call.services.bus.publish(Signal.LIMITS_CHANGED))
    return EnvironmentOut.of(after)


async def _get_api_key(call: Call, key_id: ApiKeyId) -> ApiKey:
    key = await store.find_api_key(call.db, call.environment_id, key_id)
    if key is None:
        raise NotFound("ApiKey", id_text(key_id))
    return key


def _require_grantable(call: Call, scopes: frozenset[Scope], verb: str) -> None:
    """Refuse what would let a caller act beyond its own rights through another key."""
    beyond = sorted(scopes & GIVEN_BY_NAME - call.caller.grantable_scopes)
    if beyond:
        raise Forbidden(
            f"{call.caller.title} cannot {verb} a key with {', '.join(beyond)}: only owners of the organization give "
            "scopes that reach beyond the environment; ask one of them, or use 'clarion keys'",
            ctx={"missingScopes": beyond},
        )
    _require_scopes(call, scopes, verb, call.caller.grantable_scopes)


def _require_scopes(call: Call, scopes: frozenset[Scope], verb: str, own: frozenset[Scope]) -> None:
    missing = list_missing_scopes(own, scopes)
    if missing:
        way_out = "use a key that has them" if call.caller.member is None else "ask an owner"
        raise Forbidden(
            f"{call.caller.title} cannot {verb} a key with scopes that it lacks itself: {', '.join(missing)}; "
            f"{way_out}, or use 'clarion keys'",
            ctx={"missingScopes": missing},
        )


def _granted_expiry(call: Call, text: MomentText | None) -> Millis | None:
    """When a key is to expire; no later than the key that asks for it."""
    if text is not None and text.moment <= call.now:
        raise Invalid.field("expiresAt", "must lie in the future", text)
    expires_at = None if text is None else text.moment
    own = call.caller.expires_at
    if own is not None and outlives(expires_at, own):
        raise Forbidden(
            f"This API key expires at {iso_text(own)} and cannot let a key be valid for longer; "
            "send an earlier expiresAt, or use a key that lasts longer",
            ctx={"expiresAt": iso_text(own)},
        )
    return expires_at
