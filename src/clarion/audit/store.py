"""SQL of the audit log, and its filters."""

from typing import Any

from clarion.audit.model import Action, Actor, ActorType, AuditTarget, Author, Entry, TargetType
from clarion.audit.wire import AuditQuery
from clarion.clock import SECOND, Millis
from clarion.db.listing import Listing, add_lengths
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.errors import Invalid
from clarion.ids import AuditEntryId, EnvironmentId, first_id, last_id
from clarion.jsontext import json_text, json_value

INSERT_ENTRY = sql("""
    INSERT INTO audit_entries (
        environment_id, id, action, target_type, target_id, target_name, actor_type, actor_id, actor_name, request_id,
        before, after, created_at
    ) VALUES (
        :environment_id, :id, :action, :target_type, :target_id, :target_name, :actor_type, :actor_id, :actor_name,
        :request_id, :before, :after, :created_at
    )
""")


async def insert_entry(db: Connection, entry: Entry) -> None:
    await db.execute(
        INSERT_ENTRY,
        environment_id=entry.environment_id,
        id=entry.id,
        action=entry.action,
        target_type=entry.target.type,
        target_id=entry.target.id,
        target_name=entry.target.name,
        actor_type=entry.author.actor.type,
        actor_id=entry.author.actor.id,
        actor_name=entry.author.actor.name,
        request_id=entry.author.request_id,
        before=None if entry.before is None else json_text(entry.before),
        after=None if entry.after is None else json_text(entry.after),
        created_at=entry.created_at,
    )


def entry_of(row: Row) -> Entry:
    """Read an entry from a row with all columns."""
    actor = Actor(type=ActorType(row["actor_type"]), id=row["actor_id"], name=row["actor_name"])
    return Entry(
        environment_id=EnvironmentId(row["environment_id"]),
        id=AuditEntryId(row["id"]),
        action=Action(row["action"]),
        target=AuditTarget(type=TargetType(row["target_type"]), id=row["target_id"], name=row["target_name"]),
        author=Author(actor=actor, request_id=row["request_id"]),
        before=json_value(row["before"]),
        after=json_value(row["after"]),
        created_at=row["created_at"],
    )


COLUMNS = ", ".join(
    f"t.{name}"
    for name in (
        *("environment_id", "id", "action", "target_type", "target_id", "target_name", "actor_type", "actor_id"),
        *("actor_name", "request_id", "before", "after", "created_at", "updated_at"),
    )
)
# Entries never change, so that the order of `updatedAt` is that of their creation.
_SOURCE = "(SELECT e.*, e.created_at AS updated_at FROM audit_entries AS e) AS t"
# The time in an id is ahead of its row's `created_at` by at most this (see ids: bursts use the next milliseconds).
_MAX_LEAD = 2 * SECOND


def filter_entries(environment_id: EnvironmentId, query: AuditQuery) -> Listing:
    """List the entries that match every given filter."""
    if query.since is not None and query.until is not None and query.until.moment < query.since.moment:
        raise Invalid.field("to", "must not lie before 'from'", query.until)
    filters = {
        "target_type": query.target_type,
        "target_id": query.target_id,
        "actor_type": query.actor_type,
        "actor_id": query.actor_id,
        "request_id": query.request_id,
    }
    parameters: dict[str, Any] = {"environment_id": environment_id}
    parameters |= {name: value for name, value in filters.items() if value is not None}
    conditions = [f"t.{name} = :{name}" for name in parameters]
    if query.action:
        conditions.append("t.action {any:actions}")
        parameters["actions"] = list(query.action)
    if query.since is not None:
        conditions.append("t.id >= :first AND t.created_at >= :since")
        parameters |= {"since": query.since.moment, "first": first_id(query.since.moment)}
    if query.until is not None:
        conditions.append("t.id <= :last AND t.created_at <= :until")
        parameters |= {"until": query.until.moment, "last": last_id(Millis(query.until.moment + _MAX_LEAD))}
    return Listing(
        columns=COLUMNS,
        source=_SOURCE,
        where=" AND ".join(conditions),
        parameters=parameters,
        weight=add_lengths("t.before", "t.after"),
    )
