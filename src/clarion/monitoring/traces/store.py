"""SQL of trace contexts, which are stored with triggers. Only run where traces are switched on."""

from collections.abc import Collection

from msgspec import Struct

from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, MessageId, TriggerId, id_text
from clarion.monitoring.traces.model import TraceContext, parse_stored, run_span_id

LIST_OF_TRIGGERS = sql("""
    SELECT id, trace_context FROM triggers
    WHERE environment_id = :environment_id AND id {any:ids} AND trace_context IS NOT NULL
""")
LIST_OF_MESSAGES = sql("""
    SELECT m.id, m.notification_id, m.channel, t.transaction_key, t.trace_context
    FROM messages AS m JOIN triggers AS t ON t.environment_id = m.environment_id AND t.id = m.trigger_id
    WHERE m.environment_id = :environment_id AND m.id {any:ids} AND t.trace_context IS NOT NULL
""")


class MessageTrace(Struct, frozen=True, kw_only=True):
    """A message of a traced trigger."""

    run: TraceContext
    """Of the span that started the run of the message."""
    attributes: dict[str, str | int | bool]
    """Of every span about the message."""


async def list_trigger_contexts(
    db: Connection, environment_id: EnvironmentId, trigger_ids: Collection[TriggerId]
) -> dict[TriggerId, TraceContext]:
    """The contexts of the triggers that are traced."""
    rows = await db.fetch(LIST_OF_TRIGGERS, environment_id=environment_id, ids=list(trigger_ids))
    return {row["id"]: parse_stored(row["trace_context"]) for row in rows}


async def list_message_traces(
    db: Connection, environment_id: EnvironmentId, message_ids: Collection[MessageId]
) -> dict[MessageId, MessageTrace]:
    """The messages whose triggers are traced."""
    rows = await db.fetch(LIST_OF_MESSAGES, environment_id=environment_id, ids=list(message_ids))
    return {
        row["id"]: MessageTrace(
            run=parse_stored(row["trace_context"]).at(run_span_id(row["notification_id"])),
            attributes={
                "clarion.environment_id": id_text(environment_id),
                "clarion.transaction_id": row["transaction_key"],
                "clarion.notification_id": id_text(row["notification_id"]),
                "clarion.message_id": id_text(row["id"]),
                "clarion.channel": row["channel"],
            },
        )
        for row in rows
    }
