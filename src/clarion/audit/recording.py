"""Recording of changes, in the unit of work of the change: neither exists without the other."""

from clarion.audit import store
from clarion.audit.model import Action, Actor, ActorType, Author, Change, Entry, Snapshot, Target, compare, show_side
from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.http.operation import Call, DetachedCall
from clarion.ids import AuditEntryId, EnvironmentId, id_text, new_id


async def record(
    call: Call, action: Action, target: Target, *, before: Snapshot | None = None, after: Snapshot | None = None
) -> None:
    """Record what a request changes in its environment; see `record_change`."""
    change = Change(action=action, target=target, before=before, after=after)
    await record_change(call.db, call.environment_id, change, author_of(call), call.now)


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
