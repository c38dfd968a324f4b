"""Changes of environments and API keys in the audit log."""

from typing import Any

from clarion.audit.model import Action, Author, Change, Target, TargetType
from clarion.audit.recording import author_of, record_change
from clarion.clock import Millis, iso_text
from clarion.db.port import Connection
from clarion.environments.model import ApiKey, Environment
from clarion.http.operation import Call
from clarion.ids import EnvironmentId, id_text
from clarion.jsontext import plain_value


async def record_environment(
    db: Connection,
    action: Action,
    author: Author,
    now: Millis,
    *,
    before: Environment | None = None,
    after: Environment | None = None,
) -> None:
    """Record a change of an environment in its own log, unless nothing differs."""
    change, environment_id = _environment_change(action, before, after)
    await record_change(db, environment_id, change, author, now)


async def record_request(
    call: Call, action: Action, *, before: Environment | None = None, after: Environment | None = None
) -> None:
    """Record what a request changes of an environment, in its log and in that of the API key's environment.

    What members do is in the former alone: some who read the latter cannot enter the environment.
    """
    change, environment_id = _environment_change(action, before, after)
    own = call.environment_id if call.caller.member is None else environment_id
    for one in dict.fromkeys((environment_id, own)):
        await record_change(call.db, one, change, author_of(call), call.now)


async def record_api_key(
    db: Connection,
    action: Action,
    author: Author,
    now: Millis,
    *,
    before: ApiKey | None = None,
    after: ApiKey | None = None,
) -> None:
    """Record a change of an API key, unless nothing differs."""
    found = after or before
    if found is None:
        raise TypeError("A change has an API key before or after it")
    change = Change(
        action=action,
        target=Target(type=TargetType.API_KEY, id=id_text(found.id), name=found.name),
        before=None if before is None else _describe_key(before),
        after=None if after is None else _describe_key(after),
    )
    await record_change(db, found.environment_id, change, author, now)


def _environment_change(
    action: Action, before: Environment | None, after: Environment | None
) -> tuple[Change, EnvironmentId]:
    found = after or before
    if found is None:
        raise TypeError("A change has an environment before or after it")
    change = Change(
        action=action,
        target=target_of(found),
        before=None if before is None else _describe_environment(before),
        after=None if after is None else _describe_environment(after),
    )
    return change, found.id


def target_of(environment: Environment) -> Target:
    return Target(type=TargetType.ENVIRONMENT, id=id_text(environment.id), name=environment.name)


def _describe_environment(environment: Environment) -> dict[str, Any]:
    options: dict[str, Any] = plain_value(environment.options)
    return {
        "name": environment.name,
        "type": environment.kind,
        "identifier": environment.identifier,
        "timezone": environment.timezone,
        "limits": options.get("limits", {}),
        "retentionDays": options.get("retention_days", {}),
        "subscribersCreateTopics": environment.options.subscribers_create_topics,
    }


def _describe_key(key: ApiKey) -> dict[str, Any]:
    return {
        "name": key.name,
        "scopes": sorted(key.scopes),
        "expiresAt": None if key.expires_at is None else iso_text(key.expires_at),
        "hint": key.hint,
    }
