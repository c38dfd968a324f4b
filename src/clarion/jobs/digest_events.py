"""The events of a digest: a job stores which triggers they are, and the payloads stay in the triggers.

Each event is an object with `id`, `time` and `payload`. The digests of many people can have the same events, and copies
of the payloads would be stored as often as there are people.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, find_id
from clarion.jsontext import json_value

LIST_PAYLOADS = sql("SELECT id, payload FROM triggers WHERE environment_id = :environment_id AND id {any:ids}")


def without_payloads(value: Mapping[str, Any]) -> dict[str, Any]:
    """A digest, or the outputs of its step, as it is stored."""
    events = value.get("events")
    if not events:
        return dict(value)
    return {**value, "events": [{"id": one["id"], "time": one["time"]} for one in events]}


async def add_payloads(db: Connection, environment_id: EnvironmentId, events: Iterable[dict[str, Any]]) -> None:
    """Add the payloads of events that lack theirs; that of a trigger which is gone is empty."""
    lacking = [one for one in events if "payload" not in one]
    ids = {found for one in lacking if (found := find_id(one["id"])) is not None}
    if not lacking:
        return
    rows = await db.fetch(LIST_PAYLOADS, environment_id=environment_id, ids=list(ids))
    payloads = {row["id"]: json_value(row["payload"]) for row in rows}
    for one in lacking:
        one["payload"] = payloads.get(find_id(one["id"]) or b"", {})
