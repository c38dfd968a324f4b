"""Which messages are listed: filters of all channels, of the outbox and of the in-app feed, as SQL."""

import base64
import binascii
import re
from typing import Any

import msgspec

from clarion.clock import Millis
from clarion.contexts.model import stored_keys
from clarion.contexts.wire import read_keys
from clarion.db.listing import Listing, split_by_values
from clarion.db.port import Connection
from clarion.errors import Malformed
from clarion.http.limits import check_nesting
from clarion.ids import EnvironmentId
from clarion.jsontext import json_text
from clarion.messages.store import COLUMNS, WEIGHT
from clarion.messages.wire import MessageQuery, OutboxQuery
from clarion.subscribers.model import Subscriber
from clarion.triggers.transactions import list_trigger_ids
from clarion.vocabulary import Channel

_OF_SUBSCRIBER = """
    t.subscriber_id = (SELECT id FROM subscribers WHERE environment_id = :environment_id AND key = :subscriber_key)
"""

_TO_ADDRESS = "{position}(lower(coalesce(t.email, t.phone, '')), :address) > 0"

_BOTH = ("FALSE", "TRUE")

# The feed hides archived messages and those that are snoozed.
_IN_FEED = """
    t.environment_id = :environment_id AND t.subscriber_id = :subscriber_id AND t.channel = :channel
    AND t.archived = FALSE AND (t.snoozed_until IS NULL OR t.snoozed_until <= :now)
"""
_PAYLOAD_MATCHES = """
    EXISTS (
        SELECT 1 FROM triggers AS g
        WHERE g.environment_id = t.environment_id AND g.id = t.trigger_id AND json_matches(g.payload, :pattern)
    )
"""
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
_NOT_AN_OBJECT = "Invalid payload: give a JSON object as a base64 string"


async def filter_messages(db: Connection, environment_id: EnvironmentId, query: MessageQuery) -> Listing:
    """List the messages that match every given filter; an unknown subscriber or transaction matches none."""
    conditions = ["t.environment_id = :environment_id"]
    parameters: dict[str, Any] = {"environment_id": environment_id}
    parts = None
    is_of_person = query.subscriber_id is not None
    if query.channel is not None and not is_of_person:
        conditions.append("t.channel = :channel")
        parameters["channel"] = query.channel
    keys = read_keys(query.context_keys)
    if keys:
        conditions.append("t.context_keys = :context_keys")
        parameters["context_keys"] = stored_keys(keys)
    elif keys is not None:
        conditions.append("t.context_keys IS NULL")
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


def filter_feed(
    subscriber: Subscriber,
    now: Millis,
    *,
    read: bool | None = None,
    seen: bool | None = None,
    pattern: str | None = None,
) -> Listing:
    """List the messages in a subscriber's feed, filtered by state and by a part of the payload."""
    conditions = [_IN_FEED]
    parameters: dict[str, Any] = {
        "environment_id": subscriber.environment_id,
        "subscriber_id": subscriber.id,
        "channel": Channel.IN_APP,
        "now": now,
    }
    for name, wanted in (("read", read), ("seen", seen)):
        if wanted is not None:
            conditions.append(f"t.{name} = :{name}")
            parameters[name] = wanted
    if pattern is not None:
        conditions.append(_PAYLOAD_MATCHES)
        parameters["pattern"] = pattern
    return Listing(
        columns=COLUMNS,
        source="messages AS t",
        where=" AND ".join(conditions),
        parameters=parameters,
        sort_column="position",
        weight=WEIGHT,
    )


def read_pattern(encoded: str | None) -> str | None:
    """Decode the JSON text in the feed's `payload` parameter: base64 in either alphabet, padded or not."""
    if not encoded:
        return None
    standard = encoded.replace("-", "+").replace("_", "/").replace(" ", "+").rstrip("=")
    try:
        raw = base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
        check_nesting(raw)
        value = msgspec.json.decode(raw)
    except (binascii.Error, ValueError, msgspec.DecodeError):
        raise Malformed(_NOT_AN_OBJECT) from None
    text = json_text(value)
    # No stored payload contains U+0000, and PostgreSQL refuses it in a parameter.
    if not isinstance(value, dict) or _NUL.search(text):
        raise Malformed(_NOT_AN_OBJECT)
    return text
