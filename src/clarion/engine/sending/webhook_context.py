"""Data of the trigger for receivers of plain webhooks; loaded only where an integration is such a webhook."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from clarion.clock import iso_text
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.engine.records import digest_variables, person_variables
from clarion.engine.sending.model import ClaimedSend, OutgoingMessage
from clarion.ids import EnvironmentId, id_text
from clarion.jobs.digest_events import add_payloads
from clarion.jobs.store import list_jobs_of_runs
from clarion.jsontext import json_value, plain_value
from clarion.subscribers.model import ChannelEntry, Subscriber
from clarion.subscribers.store import list_subscribers_by_id
from clarion.subscribers.wire import ChannelOut
from clarion.vocabulary import Channel

_PUSH = "push-webhook"
_TOLD = frozenset({"email-webhook", _PUSH})

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
    await _add_people(db, environment_id, [one for one in asking if _is_for_webhook(one[1])])


def _is_for_webhook(message: OutgoingMessage) -> bool:
    """The provider of an e-mail is chosen later."""
    return message.channel is Channel.EMAIL or message.provider_id == _PUSH


async def _add_people(
    db: Connection, environment_id: EnvironmentId, asking: Sequence[tuple[ClaimedSend, OutgoingMessage]]
) -> None:
    """Add to the payload of webhooks who the subscriber is, and the events of the digest before the step."""
    if not asking:
        return
    people = await list_subscribers_by_id(db, environment_id, [message.subscriber_id for _, message in asking])
    jobs = await list_jobs_of_runs(db, environment_id, list({send.notification_id for send, _ in asking}))
    digests = (job.digest for its in jobs.values() for job in its if job.digest)
    events = [event for digest in digests for event in digest.get("events", ())]
    if events:
        await add_payloads(db, environment_id, events)
    for send, message in asking:
        person, context = people.get(message.subscriber_id), send.contexts[message.id]
        added = {} if person is None else {"subscriber": _describe(person, _own_entry(send, message))}
        added["step"] = digest_variables(jobs.get(send.notification_id, ()))
        context["payload"] = (context.get("payload") or {}) | added


def _own_entry(send: ClaimedSend, message: OutgoingMessage) -> list[ChannelEntry]:
    """The person's entry at the provider, with the message's own device: only that is removed from stored answers."""
    entry = send.entries.get(message.id)
    return [] if entry is None else [replace(entry, credentials={"deviceTokens": message.device_tokens})]


def _describe(person: Subscriber, channels: Sequence[ChannelEntry]) -> dict[str, Any]:
    return {
        "_id": id_text(person.id),
        "_environmentId": id_text(person.environment_id),
        **person_variables(person),
        "channels": plain_value([ChannelOut.of(one) for one in channels]),
        "createdAt": iso_text(person.created_at),
        "updatedAt": iso_text(person.updated_at),
    }
