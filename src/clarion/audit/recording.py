"""Recording of changes, in the unit of work of the change: neither exists without the other."""

from clarion.audit import store
from clarion.audit.model import Action, Actor, ActorType, Author, Change, Entry, Snapshot, compare, show_side
from clarion.audit.resources import Audited, list_logs, snapshot_of, target_of
from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.environments.model import Environment
from clarion.http.operation import Call, DetachedCall
from clarion.ids import AuditEntryId, EnvironmentId, id_text, new_id
from clarion.members.model import Member


async def record(
    db: Connection,
    action: Action,
    author: Author,
    now: Millis,
    *,
    before: Audited | None = None,
    after: Audited | None = None,
) -> None:
    """Record a change of a resource in each log that has its changes, unless nothing differs."""
    for environment_id in await list_logs(db, _present(before, after)):
        await record_change(db, environment_id, _change(action, before, after, environment_id), author, now)


async def record_request(
    call: Call, action: Action, *, before: Audited | None = None, after: Audited | None = None
) -> None:
    """Record what a request changes.

    What an API key changes of an environment is in the log of the key's own environment too. What members do is not:
    some who read that log cannot enter the changed environment.
    """
    resource = _present(before, after)
    logs = await list_logs(call.db, resource)
    if isinstance(resource, Environment) and call.caller.member is None:
        logs = list(dict.fromkeys((*logs, call.environment_id)))
    for environment_id in logs:
        change = _change(action, before, after, environment_id)
        await record_change(call.db, environment_id, change, author_of(call), call.now)


async def record_event(
    db: Connection,
    action: Action,
    resource: Audited,
    author: Author,
    now: Millis,
    *,
    details: Snapshot | None = None,
) -> None:
    """Record what was done without changing the resource, such as ending the sessions of a member."""
    change = Change(action=action, target=target_of(resource), after=details)
    for environment_id in await list_logs(db, resource):
        await record_change(db, environment_id, change, author, now)


async def record_change(
    db: Connection, environment_id: EnvironmentId, change: Change, author: Author, now: Millis
) -> None:
    """Append an entry to the log of an environment, unless nothing differs.

    `before` and `after` are whole snapshots; the entry has the members that differ. Wrap secrets in `Secret`: they are
    compared, and never written.
    """
    if change.is_empty:
        return
    before, after = change.before, change.after
    if before is not None and after is not None:
        before, after = compare(before, after)
    entry = Entry(
        environment_id=environment_id,
        id=AuditEntryId(new_id(now)),
        action=change.action,
        target=change.target,
        author=author,
        before=None if before is None else show_side(before),
        after=None if after is None else show_side(after),
        created_at=now,
    )
    await store.insert_entry(db, entry)


def author_of(call: Call | DetachedCall) -> Author:
    """Return who makes a request."""
    caller = call.caller
    if caller.member is not None:
        actor = Actor(type=ActorType.MEMBER, id=id_text(caller.member.id), name=caller.member.name)
    else:
        actor = Actor(type=ActorType.KEY, id=id_text(caller.key_id), name=caller.key_name)
    return Author(actor=actor, request_id=call.request_id)


def author_of_member(member: Member, request_id: str | None = None) -> Author:
    """A member who acts for themselves, before they have a session."""
    actor = Actor(type=ActorType.MEMBER, id=id_text(member.id), name=member.name)
    return Author(actor=actor, request_id=request_id)


def _present(before: Audited | None, after: Audited | None) -> Audited:
    resource = after or before
    if resource is None:
        raise TypeError("A change has a resource before or after it")
    return resource


def _change(action: Action, before: Audited | None, after: Audited | None, environment_id: EnvironmentId) -> Change:
    return Change(
        action=action,
        target=target_of(_present(before, after)),
        before=None if before is None else snapshot_of(before, environment_id),
        after=None if after is None else snapshot_of(after, environment_id),
    )
