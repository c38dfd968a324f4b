"""SQL of the audit log."""

from clarion.audit.model import Action, Actor, ActorType, AuditTarget, Author, Entry, TargetType
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.ids import AuditEntryId, EnvironmentId
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
