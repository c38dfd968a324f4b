"""Data of the trigger for receivers of plain webhooks; loaded only where an integration is such a webhook."""

from collections.abc import Sequence

from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.engine.sending.model import ClaimedSend
from clarion.ids import EnvironmentId
from clarion.jsontext import json_value

_TOLD = frozenset({"email-webhook", "push-webhook"})

LIST_ORIGINS = sql("""
    SELECT t.id, t.transaction_key, t.payload, w.key AS workflow_key
    FROM triggers AS t JOIN workflows AS w ON w.environment_id = t.environment_id AND w.id = t.workflow_id
    WHERE t.environment_id = :environment_id AND t.id {any:ids}
""")
LIST_KEYS = sql("SELECT id, key FROM subscribers WHERE environment_id = :environment_id AND id {any:ids}")


async def add_contexts(db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]) -> None:
    channels = {one.channel for one in sends[0].integrations if one.active and one.provider_id in _TOLD}
    asking = [(send, one) for send in sends for one in send.messages if one.channel in channels]
    if not asking:
        return
    trigger_ids = list({message.trigger_id for _, message in asking})
    rows = await db.fetch(LIST_ORIGINS, environment_id=environment_id, ids=trigger_ids)
    origins = {
        row["id"]: {
            "transactionId": row["transaction_key"],
            "workflowIdentifier": row["workflow_key"],
            "payload": json_value(row["payload"]),
        }
        for row in rows
    }
    people = list({message.subscriber_id for _, message in asking})
    keys = {row["id"]: row["key"] for row in await db.fetch(LIST_KEYS, environment_id=environment_id, ids=people)}
    for send, message in asking:
        context = origins.get(message.trigger_id, {}) | {"subscriberId": keys.get(message.subscriber_id)}
        send.contexts[message.id] = context
