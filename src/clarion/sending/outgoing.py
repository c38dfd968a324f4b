"""A message as it is handed to a provider, with the data of its trigger for receivers of plain webhooks."""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Protocol

from clarion.clock import iso_text
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, TriggerId, id_text
from clarion.integrations.model import Integration
from clarion.jobs.store import add_payloads
from clarion.jsontext import json_value
from clarion.providers.definition.outgoing import Outgoing, always, unchanged
from clarion.providers.definition.overrides import PASSTHROUGH, provider_overrides, with_options
from clarion.providers.definition.result import Sent
from clarion.providers.registry import find_provider
from clarion.sending.addresses import leave_out
from clarion.sending.model import ClaimedSend, OutgoingMessage
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import list_subscribers_by_id
from clarion.tracking.links import find_links
from clarion.triggers.model import Recipients, decode_recipients, list_misplaced_overrides
from clarion.vocabulary import Channel
from clarion.workflows.variables import digest_variables, person_variables

ReceiptsUrl = Callable[[Integration], str | None]
"""Where the provider of an integration reports, if it can reach us at all."""
_TOLD = frozenset({"email-webhook", "push-webhook"})


LIST_ORIGINS = sql("""
    SELECT t.id, t.transaction_key, t.payload, t.recipients, w.key AS workflow_key
    FROM triggers AS t JOIN workflows AS w ON w.environment_id = t.environment_id AND w.id = t.workflow_id
    WHERE t.environment_id = :environment_id AND t.id {any:ids}
""")
# The digests that have ended hold their events.
LIST_DIGESTS = sql("""
    SELECT notification_id, step, digest FROM jobs WHERE environment_id = :environment_id
    AND notification_id {any:run_ids} AND type = 'digest' AND status = 'completed' AND digest IS NOT NULL
""")


class Gateway(Protocol):
    """What messages are handed to: a `ProviderGateway`, or a `DryGateway` in simulations."""

    async def send(self, provider_id: str, outgoing: Outgoing) -> Sent:
        """Send the message once; raises SendFailure."""
        ...


_OF_THE_MESSAGE = ("webhookUrl", "deviceTokens")


def nowhere(_: Integration) -> str | None:
    return None


def make_outgoing(
    send: ClaimedSend,
    message: OutgoingMessage,
    integration: Integration,
    *,
    receipts_url: ReceiptsUrl = nowhere,
    track: Callable[[str], str] = unchanged,
    can_start: Callable[[], bool] = always,
) -> tuple[Outgoing, dict[str, list[str]]]:
    """Return the message for a provider, and the suppressed copies that are left out of it."""
    entry = send.entries.get(message.id)
    overrides = with_options(message.email_options or {}, _overrides(send, message, integration.provider_id))
    left_out: dict[str, list[str]] = {}
    if message.id in send.suppressed_copies:
        overrides, left_out = leave_out(overrides, send.suppressed_copies[message.id])
    outgoing = Outgoing(
        message_id=id_text(message.id),
        channel=message.channel,
        content=message.content,
        subject=message.subject,
        title=message.title,
        email=message.email,
        phone=message.phone,
        phone_region=send.regions.get(message.id, ""),
        webhook_url=message.webhook_url,
        device_tokens=tuple(message.device_tokens or ()),
        entry={} if entry is None else {k: v for k, v in entry.credentials.items() if k not in _OF_THE_MESSAGE},
        data=message.data,
        payload=send.payload,
        context=send.contexts.get(message.id, {}),
        receipts_url=receipts_url(integration),
        unsubscribe_url=message.unsubscribe_url,
        credentials=integration.credentials,
        overrides=overrides if message.wanted_change is None else _without_texts(message, overrides),
        change=message.wanted_change,
        track=track,
        can_start=can_start,
    )
    return outgoing, left_out


def _without_texts(message: OutgoingMessage, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The overrides of a changed message: not those that would show the former text again."""
    gone = _TEXTS | {PASSTHROUGH} if message.channel is Channel.CHAT else _TEXTS
    return {name: value for name, value in overrides.items() if name not in gone}


_TEXTS = frozenset({"content", "title", "body", "text", "blocks", "attachments", "embeds"})


def find_rewriter(send: ClaimedSend, message: OutgoingMessage, public_url: str | None) -> Callable[[str], str]:
    """Return what puts tracked links into the HTML of a message; nothing is changed unless it is tracked."""
    if message.tracking is None or not message.tracking.is_wanted:
        return unchanged
    links = find_links(send.content, public_url)
    return unchanged if links is None else links.make_rewriter(message.id, message.tracking)


def _overrides(send: ClaimedSend, message: OutgoingMessage, provider_id: str) -> dict[str, object]:
    if not send.overrides:
        return {}
    step_id = send.run.step_of(send.job).step_id if send.run else None
    overrides = provider_overrides(send.overrides, message.channel, provider_id, step_id)
    if message.channel is Channel.PUSH:
        # The messages of the step were made for these tokens.
        overrides.pop("deviceTokens", None)
        overrides.pop("tokens", None)
    return overrides


def list_ignored_overrides(send: ClaimedSend, outgoing: Outgoing, provider_id: str) -> dict[str, str]:
    """What the trigger wants and this send does not do, and why, by the name of the override."""
    provider = find_provider(provider_id)
    ignored = {} if provider is None else provider.list_ignored(outgoing.overrides)
    if send.overrides:
        ignored |= list_misplaced_overrides(send.overrides, None if send.run is None else send.run.version.steps)
    return ignored


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
    for send, message in asking:
        send.contexts[message.id] = dict(origins.get(message.trigger_id, {}))
    recipients = {row["id"]: decode_recipients(row["recipients"]) for row in rows if row["recipients"] is not None}
    await _add_people(db, environment_id, asking, recipients)


async def _add_people(
    db: Connection,
    environment_id: EnvironmentId,
    asking: Sequence[tuple[ClaimedSend, OutgoingMessage]],
    recipients: Mapping[TriggerId, Recipients],
) -> None:
    """Add to the payload of webhooks who the subscriber is, and the events of the digest before the step."""
    people = await list_subscribers_by_id(db, environment_id, [message.subscriber_id for _, message in asking])
    run_ids = list({send.notification_id for send, _ in asking})
    rows = await db.fetch(LIST_DIGESTS, environment_id=environment_id, run_ids=run_ids)
    digests = {row["notification_id"]: json_value(row["digest"]) for row in sorted(rows, key=itemgetter("step"))}
    await add_payloads(db, environment_id, [event for one in digests.values() for event in one.get("events", ())])
    for send, message in asking:
        person, context = people.get(message.subscriber_id), send.contexts[message.id]
        if person is not None and message.trigger_id in recipients:
            person = recipients[message.trigger_id].overlay(person)
        context["subscriberId"] = None if person is None else person.key
        added = {} if person is None else {"subscriber": _describe(person, _own_entry(send, message))}
        added["step"] = digest_variables(digests.get(send.notification_id))
        context["payload"] = (context.get("payload") or {}) | added


def _own_entry(send: ClaimedSend, message: OutgoingMessage) -> list[dict[str, Any]]:
    """The person's entry at the provider, with the message's own device: only that is removed from stored answers."""
    entry = send.entries.get(message.id)
    if entry is None:
        return []
    own = {"deviceTokens": message.device_tokens}
    return [{"providerId": entry.provider_id, "_integrationId": id_text(entry.integration_id), "credentials": own}]


def _describe(person: Subscriber, channels: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "_id": id_text(person.id),
        "_environmentId": id_text(person.environment_id),
        **person_variables(person),
        "channels": channels,
        "createdAt": iso_text(person.created_at),
        "updatedAt": iso_text(person.updated_at),
    }
