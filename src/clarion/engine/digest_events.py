"""Events of digest windows: one for each run that joined, and those that templates see."""

import math
import struct
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import Millis, iso_text
from clarion.db.port import Connection, Row
from clarion.db.query import Insert, sql
from clarion.ids import EnvironmentId, JobId, TriggerId, id_text
from clarion.jsontext import encode_json
from clarion.triggers.model import Trigger
from clarion.workflows.control_parts import MAX_RETAINED

MAX_EVENTS = MAX_RETAINED
"""Templates see the first events of a window; the others are counted."""
MAX_EVENT_BYTES = 512 * 1024
"""The same, for all payloads that they see together; at least one is seen."""
_KEY_BYTES = 64
"""Of texts by which events are sorted."""
_FIRST, _LAST = b"\0", b"\1"
_NUMBER, _TEXT = b"\1", b"\2"
_ALL_BITS = (1 << 64) - 1


class JoinedEvent(Struct, frozen=True):
    """The event of a run that has joined in this unit of work."""

    job_id: JobId
    trigger: Trigger
    sort_key: bytes | None = None
    """Its place among the others, the first being kept; without one, they are in the order of their triggers."""


class DigestEvent(Struct, frozen=True):
    trigger_id: TriggerId
    job_id: JobId
    size: int
    """Bytes of its payload."""
    event: dict[str, Any]
    sort_key: bytes = b""

    @property
    def place(self) -> tuple[bytes, TriggerId, JobId]:
        return self.sort_key, self.trigger_id, self.job_id


class LoadedEvents(Struct):
    total: int
    events: list[DigestEvent] = []


EVENTS = Insert("digest_events", "environment_id", "window_id", "generation", "job_id", "trigger_id", "sort_key")
_COUNTS = "t.state NOT IN ('canceled', 'canceling') AND (t.expires_at IS NULL OR t.expires_at > :now)"
# The first events of each window, and how many there are, without those of triggers that are canceled or have expired.
LIST_EVENTS = sql(f"""
    SELECT window_id, job_id, trigger_id, sort_key, created_at, size, total FROM (
        SELECT e.window_id, e.job_id, e.trigger_id, e.sort_key, t.created_at, octet_length(t.payload) AS size,
            w.leader_id,
            row_number() OVER (
                PARTITION BY e.window_id ORDER BY e.sort_key NULLS FIRST, e.trigger_id, e.job_id
            ) AS place,
            count(*) OVER (PARTITION BY e.window_id) AS total
        FROM digest_windows AS w
        JOIN digest_events AS e
            ON e.environment_id = w.environment_id AND e.window_id = w.id AND e.generation = w.generation
        JOIN triggers AS t ON t.environment_id = e.environment_id AND t.id = e.trigger_id
        WHERE w.environment_id = :environment_id AND w.id {{any:window_ids}} AND {_COUNTS}
    ) AS ranked
    WHERE place <= :limit OR job_id = leader_id
""")
COUNT_EVENTS = sql(f"""
    SELECT count(*) AS n FROM digest_events AS e
    JOIN triggers AS t ON t.environment_id = e.environment_id AND t.id = e.trigger_id
    WHERE e.environment_id = :environment_id AND e.window_id = :window_id AND e.generation = :generation AND {_COUNTS}
""")
FIND_OLDEST = sql("""
    SELECT job_id FROM digest_events
    WHERE environment_id = :environment_id AND window_id = :window_id AND generation = :generation
    ORDER BY trigger_id, job_id LIMIT 1
""")
LIST_EVENTS_OF_JOBS = sql("""
    SELECT window_id, generation, job_id FROM digest_events
    WHERE environment_id = :environment_id AND job_id {any:job_ids}
""")
MOVE_EVENTS = sql("""
    UPDATE digest_events SET window_id = :into
    WHERE environment_id = :environment_id AND window_id = :window_id AND generation = :generation
""")
DELETE_EVENT = sql("DELETE FROM digest_events WHERE environment_id = :environment_id AND job_id = :job_id")


async def list_first_events(
    db: Connection, environment_id: EnvironmentId, window_ids: Sequence[bytes], now: Millis
) -> dict[bytes, LoadedEvents]:
    """The events that templates may see of these windows, still without payloads, and how many there are in all."""
    loaded: dict[bytes, LoadedEvents] = {}
    scope = {"environment_id": environment_id}
    for row in await db.fetch(LIST_EVENTS, **scope, window_ids=window_ids, limit=MAX_EVENTS, now=now):
        loaded.setdefault(row["window_id"], LoadedEvents(row["total"])).events.append(_event(row))
    return loaded


async def count_events(
    db: Connection, environment_id: EnvironmentId, window_id: bytes, generation: int, now: Millis
) -> int:
    """How many events a window has, without those of triggers that are canceled or have expired."""
    scope = {"environment_id": environment_id}
    row = await db.fetch_one(COUNT_EVENTS, **scope, window_id=window_id, generation=generation, now=now)
    return 0 if row is None else int(row["n"])


def make_event(trigger_id: TriggerId, created_at: Millis) -> dict[str, Any]:
    """An event as templates see it, still without its payload."""
    return {"id": id_text(trigger_id), "time": iso_text(created_at)}


def make_joined_event(joined: JoinedEvent) -> DigestEvent:
    trigger = joined.trigger
    event = make_event(trigger.id, trigger.created_at) | {"payload": trigger.payload}
    return DigestEvent(trigger.id, joined.job_id, len(encode_json(trigger.payload)), event, joined.sort_key or b"")


def choose_shown(events: Iterable[DigestEvent], leader_id: JobId | None) -> list[DigestEvent]:
    """The first events, as far as they fit, in their order; that of the leader is among them."""
    ordered = sorted(events, key=lambda one: one.place)
    own = [one for one in ordered if one.job_id == leader_id]
    size, shown = sum(one.size for one in own), list(own)
    for event in ordered:
        if event.job_id == leader_id:
            continue
        size += event.size
        if len(shown) >= MAX_EVENTS or (shown and size > MAX_EVENT_BYTES):
            break
        shown.append(event)
    return sorted(shown, key=lambda one: one.place)


def make_sort_key(value: Any, *, is_descending: bool) -> bytes:
    """Return a key of at most 66 bytes, by which events are sorted: numbers, then texts, then those without a value.

    A text that is a number counts as one, since templates make texts of numbers.
    """
    known = _known_key(value)
    if known is None:
        return _LAST
    return _FIRST + (bytes(255 - one for one in known) if is_descending else known)


def _known_key(value: Any) -> bytes | None:
    number = _number(value)
    if number is not None:
        (bits,) = struct.unpack(">Q", struct.pack(">d", number))
        # Bits of negative numbers are in the opposite order.
        return _NUMBER + struct.pack(">Q", bits ^ (_ALL_BITS if bits >> 63 else 1 << 63))
    if isinstance(value, str) and value.strip():
        return _TEXT + value.strip().encode()[:_KEY_BYTES].ljust(_KEY_BYTES, b"\0")
    return None


def _number(value: Any) -> float | None:
    if not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    # Zero has two forms.
    return number + 0.0 if math.isfinite(number) else None


def _event(row: Row) -> DigestEvent:
    trigger_id = TriggerId(row["trigger_id"])
    event = make_event(trigger_id, row["created_at"])
    return DigestEvent(trigger_id, JobId(row["job_id"]), row["size"], event, row["sort_key"] or b"")
