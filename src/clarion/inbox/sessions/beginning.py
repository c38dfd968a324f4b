"""Beginning a session: which environment it is, whether the caller proves to be the person, and the person's record."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.contexts.actions import insert_missing, list_keys
from clarion.contexts.model import Contexts, keys_of
from clarion.contexts.store import list_existing
from clarion.db.port import Connection, Database
from clarion.environments.model import Environment
from clarion.environments.store import find_environment_state, list_secrets
from clarion.errors import Malformed, NotFound
from clarion.http.caller import SubscriberSession
from clarion.ids import EnvironmentId, SubscriberKey
from clarion.inbox.counts import InboxCounts, count_inbox
from clarion.inbox.sessions.hashes import is_hash_of, list_subscriber_forms
from clarion.inbox.sessions.proof import is_context_proven
from clarion.inbox.sessions.quota import check_fields, check_new_person, check_schedule
from clarion.integrations.store import IntegrationCache
from clarion.subscribers.model import Subscriber, changed_fields
from clarion.subscribers.store import (
    find_subscriber,
    get_subscriber,
    insert_subscriber,
    update_subscriber,
)
from clarion.templates.locales import normalize_locale
from clarion.vault import Vault
from clarion.vocabulary import Channel

_KEYLESS = "pk_keyless_"
_REFUSED = (
    "The subscriberHash, or the contextHash of a context, is missing or wrong: send the hexadecimal HMAC-SHA256 "
    "under an API key of this environment"
)


class SessionRequest(Struct, frozen=True, kw_only=True):
    """Who wants to begin a session, and what is known of them."""

    application: str
    subscriber_key: SubscriberKey
    fields: Mapping[str, Any]
    subscriber_hash: str | None
    schedule: dict[str, Any] | None
    """For a person who has none."""
    context: dict[str, Any]
    """As it was sent."""
    contexts: Contexts
    context_hash: str | None


class BegunSession(Struct, frozen=True, kw_only=True):
    environment: Environment
    session: SubscriberSession
    counts: InboxCounts
    locale: str | None
    """The language of the person, as `en_US`."""


class _Person(Struct, frozen=True):
    subscriber: Subscriber
    counts: InboxCounts


class _Visitor(Struct, frozen=True, kw_only=True):
    """Who wants to begin a session, as far as the store knows them."""

    environment: Environment
    epoch: int
    is_proven: bool
    """Whether a hash proves who the caller is."""
    person: _Person | None
    has_new_contexts: bool
    """Whether the caller proves contexts that do not exist."""


async def begin_session(
    database: Database,
    request: SessionRequest,
    *,
    vault: Vault,
    now: Millis,
    count: Callable[[EnvironmentId], Awaitable[None]],
    max_unproven: int,
) -> BegunSession:
    """Begin a session; the person is created if they do not exist.

    `count` is called when the environment is known, and may refuse the request. `max_unproven` is how many people
    sessions without proof may create.

    What is stored of a person who exists changes only if a hash proves that the caller is that person: the application
    identifier is public. Most sessions therefore change nothing, and need no transaction that writes. Contexts that do
    not exist are stored under the same condition.
    """
    visitor = await database.read(partial(_look_up, request=request, vault=vault, now=now))
    await count(visitor.environment.id)
    person = visitor.person
    if person is None or _has_changes(visitor, person.subscriber, request):
        write = partial(_write_subscriber, visitor=visitor, request=request, now=now, max_unproven=max_unproven)
        person = await database.transaction(write)
    if visitor.has_new_contexts:
        await database.transaction(partial(_insert_contexts, visitor=visitor, contexts=request.contexts, now=now))
    session = SubscriberSession(
        subscriber_id=person.subscriber.id,
        epoch=visitor.epoch,
        context_keys=keys_of(request.contexts),
        is_proven=visitor.is_proven,
    )
    return BegunSession(
        environment=visitor.environment,
        session=session,
        counts=person.counts,
        locale=normalize_locale(person.subscriber.locale),
    )


async def _look_up(db: Connection, *, request: SessionRequest, vault: Vault, now: Millis) -> _Visitor:
    state = await find_environment_state(db, request.application)
    if state is None:
        raise Malformed(_explain_unknown(request.application))
    environment_id = state.environment.id
    integrations = await IntegrationCache(vault).list(db, environment_id, state.configuration_version)
    inbox = next((one for one in integrations if one.channel is Channel.IN_APP and one.active), None)
    if inbox is None:
        raise NotFound("An active integration of the channel", Channel.IN_APP)
    needs_hash = inbox.credentials.get("hmac") is True
    if needs_hash:
        await _check_hashes(db, environment_id, request, vault=vault, now=now)
    return _Visitor(
        environment=state.environment,
        epoch=state.session_epoch,
        is_proven=needs_hash,
        person=await _find_person(db, environment_id, request),
        has_new_contexts=needs_hash and await _has_new_contexts(db, environment_id, request.contexts),
    )


async def _has_new_contexts(db: Connection, environment_id: EnvironmentId, contexts: Contexts) -> bool:
    keys = set(list_keys(contexts))
    return bool(keys) and not keys <= (await list_existing(db, environment_id, sorted(keys))).keys()


async def _insert_contexts(db: Connection, *, visitor: _Visitor, contexts: Contexts, now: Millis) -> None:
    existing = await list_existing(db, visitor.environment.id, list_keys(contexts))
    await insert_missing(db, visitor.environment.id, [contexts], existing, now)


async def _find_person(db: Connection, environment_id: EnvironmentId, request: SessionRequest) -> _Person | None:
    subscriber = await find_subscriber(db, environment_id, request.subscriber_key)
    if subscriber is None:
        return None
    counts = await count_inbox(db, environment_id, [subscriber.id], context_keys=keys_of(request.contexts))
    # Empty if the person was deleted in between.
    return _Person(subscriber, counts[subscriber.id]) if counts else None


async def _check_hashes(
    db: Connection, environment_id: EnvironmentId, request: SessionRequest, *, vault: Vault, now: Millis
) -> None:
    """Refuse a hash that is missing or wrong; the error does not reveal which."""
    keys = await list_secrets(db, environment_id, vault, now)
    is_person = is_hash_of(request.subscriber_hash, list_subscriber_forms(request.subscriber_key), keys)
    is_context = not request.context or await is_context_proven(
        db, environment_id, request.context, request.context_hash, keys
    )
    if not (is_person and is_context):
        raise Malformed(_REFUSED)


def _has_changes(visitor: _Visitor, subscriber: Subscriber, request: SessionRequest) -> bool:
    is_scheduled = request.schedule is not None and subscriber.schedule is None
    return is_scheduled or (visitor.is_proven and bool(changed_fields(subscriber, request.fields)))


async def _write_subscriber(
    db: Connection, *, visitor: _Visitor, request: SessionRequest, now: Millis, max_unproven: int
) -> _Person:
    environment_id, key = visitor.environment.id, request.subscriber_key
    # Read again: the person may have been changed or deleted since.
    subscriber = await find_subscriber(db, environment_id, key, for_update=True)
    if subscriber is None:
        if not visitor.is_proven:
            await check_new_person(db, environment_id, limit=max_unproven)
        check_fields(request.fields, is_proven=visitor.is_proven)
        await insert_subscriber(db, environment_id, key, request.fields, now, is_unproven=not visitor.is_proven)
        subscriber = await get_subscriber(db, environment_id, key, for_update=True)
    if visitor.is_proven:
        check_fields(request.fields, is_proven=True)
        subscriber = await update_subscriber(db, subscriber, request.fields, now)
    if request.schedule is not None and subscriber.schedule is None:
        check_schedule(request.schedule, "defaultSchedule", is_proven=visitor.is_proven)
        schedule = {"schedule": request.schedule}
        subscriber = await update_subscriber(db, subscriber, schedule, now, is_proven=visitor.is_proven)
    counts = await count_inbox(db, environment_id, [subscriber.id], context_keys=keys_of(request.contexts))
    return _Person(subscriber, counts[subscriber.id])


def _explain_unknown(application: str) -> str:
    if not application or application.startswith(_KEYLESS):
        return "An inbox without application is not supported; send the applicationIdentifier of an environment"
    return f"No environment has the applicationIdentifier '{application}'; `clarion environments list` shows them"
