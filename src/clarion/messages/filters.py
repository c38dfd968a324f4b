"""Filters of messages as SQL."""

from typing import Any

from clarion.db.listing import Listing, split_by_values
from clarion.db.port import Connection
from clarion.ids import EnvironmentId
from clarion.messages.store import COLUMNS, WEIGHT
from clarion.messages.wire import MessageQuery, OutboxQuery
from clarion.triggers.transactions import list_trigger_ids
from clarion.vocabulary import Channel

_OF_SUBSCRIBER = """
    t.subscriber_id = (SELECT id FROM subscribers WHERE environment_id = :environment_id AND key = :subscriber_key)
"""

_TO_ADDRESS = "{position}(lower(coalesce(t.email, t.phone, '')), :address) > 0"

_BOTH = ("FALSE", "TRUE")


async def filter_messages(db: Connection, environment_id: EnvironmentId, query: MessageQuery) -> Listing:
    """List the messages that match every given filter; an unknown subscriber or transaction matches none."""
    conditions = ["t.environment_id = :environment_id"]
    parameters: dict[str, Any] = {"environment_id": environment_id}
    parts = None
    is_of_person = query.subscriber_id is not None
    if query.channel is not None and not is_of_person:
        conditions.append("t.channel = :channel")
        parameters["channel"] = query.channel
    if query.transaction_id:
        parameters["trigger_ids"] = await list_trigger_ids(db, environment_id, query.transaction_id)
    if is_of_person:
        conditions.append(_OF_SUBSCRIBER)
        parameters["subscriber_key"] = query.subscriber_id
        conditions += ["t.trigger_id {any:trigger_ids}"] if query.transaction_id else []
        # The index has a subscriber's messages in order within each channel, archived ones apart.
        channels = tuple(Channel) if query.channel is None else (query.channel,)
        parts = [f"t.channel = '{channel}' AND t.archived = {word}" for channel in channels for word in _BOTH]
    elif query.transaction_id:
        parts, bound = split_by_values("t.trigger_id", parameters["trigger_ids"])
        parameters |= bound
    return Listing(
        columns=COLUMNS,
        source="messages AS t",
        where=" AND ".join(conditions),
        parameters=parameters,
        sort_column="position" if is_of_person else "id",
        parts=parts,
        weight=WEIGHT,
    )


def filter_outbox(environment_id: EnvironmentId, query: OutboxQuery) -> Listing:
    """List the messages that the built-in providers stored."""
    parameters: dict[str, Any] = {"environment_id": environment_id}
    recipient = (query.recipient or "").strip()
    if recipient:
        parameters |= {"subscriber_key": recipient, "address": recipient.lower()}
    channels = ("email", "sms") if query.channel is None else (query.channel,)
    return Listing(
        columns=COLUMNS,
        source="messages AS t",
        where="t.environment_id = :environment_id AND t.provider_id IN ('svc-email', 'svc-sms')",
        parameters=parameters,
        parts=[f"t.channel = '{one}'" for one in channels],
        unindexed=f"({_TO_ADDRESS} OR {_OF_SUBSCRIBER})" if recipient else None,
        weight=WEIGHT,
    )
