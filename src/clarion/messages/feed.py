"""The in-app feed: which messages it shows, and the filter by a part of the payload."""

import base64
import binascii
import re
from typing import Any

import msgspec

from clarion.clock import Millis
from clarion.db.listing import Listing
from clarion.errors import Malformed
from clarion.http.limits import check_nesting
from clarion.jsontext import json_text
from clarion.messages.store import COLUMNS, WEIGHT
from clarion.subscribers.model import Subscriber
from clarion.vocabulary import Channel

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
