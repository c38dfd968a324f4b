"""SQL of segments."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.listing import Listing
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.errors import NotFound
from clarion.ids import EnvironmentId, SegmentId, SegmentKey, new_id
from clarion.jsontext import json_text, json_value
from clarion.segments.model import Segment

_COLUMNS = "t.environment_id, t.id, t.key, t.name, t.description, t.condition, t.created_at, t.updated_at"
_BY_KEY = f"SELECT {_COLUMNS} FROM segments AS t WHERE t.environment_id = :environment_id AND t.key = :key"

INSERT_SEGMENT = sql("""
    INSERT INTO segments (environment_id, id, key, name, description, condition, created_at, updated_at)
    VALUES (:environment_id, :id, :key, :name, :description, :condition, :now, :now)
    ON CONFLICT (environment_id, key) DO NOTHING
    RETURNING id
""")
FIND_SEGMENT = sql(_BY_KEY)
LOCK_SEGMENT = sql(f"{_BY_KEY} {{for_update}}")
LIST_SEGMENTS_BY_KEY = sql(f"""
    SELECT {_COLUMNS} FROM segments AS t WHERE t.environment_id = :environment_id AND t.key {{any:keys}}
""")
LIST_SEGMENTS = sql(f"SELECT {_COLUMNS} FROM segments AS t WHERE t.environment_id = :environment_id ORDER BY t.key")
COUNT_SEGMENTS = sql("SELECT count(*) AS found FROM segments WHERE environment_id = :environment_id")
UPDATE_SEGMENT = sql("""
    UPDATE segments SET name = :name, description = :description, condition = :condition, updated_at = :now
    WHERE environment_id = :environment_id AND id = :id
""")
DELETE_SEGMENT = sql("DELETE FROM segments WHERE environment_id = :environment_id AND id = :id")


async def insert_segment(
    db: Connection, environment_id: EnvironmentId, key: SegmentKey, fields: Mapping[str, Any], now: Millis
) -> Segment | None:
    """Create the segment; None if there is one with the key."""
    parameters = {"id": new_id(now), "key": key, "now": now, **_stored(fields)}
    row = await db.fetch_one(INSERT_SEGMENT, environment_id=environment_id, **parameters)
    return None if row is None else await get_segment(db, environment_id, key)


async def count_segments(db: Connection, environment_id: EnvironmentId) -> int:
    row = await db.fetch_one(COUNT_SEGMENTS, environment_id=environment_id)
    return 0 if row is None else int(row["found"])


async def get_segment(
    db: Connection, environment_id: EnvironmentId, key: SegmentKey, *, for_update: bool = False
) -> Segment:
    query = LOCK_SEGMENT if for_update else FIND_SEGMENT
    row = await db.fetch_one(query, environment_id=environment_id, key=key)
    if row is None:
        raise NotFound("Segment", key)
    return segment_of(row)


async def list_segments_by_key(
    db: Connection, environment_id: EnvironmentId, keys: Sequence[SegmentKey]
) -> dict[SegmentKey, Segment]:
    """Those of the segments that exist."""
    rows = await db.fetch(LIST_SEGMENTS_BY_KEY, environment_id=environment_id, keys=list(keys)) if keys else ()
    return {row["key"]: segment_of(row) for row in rows}


async def list_segments(db: Connection, environment_id: EnvironmentId) -> list[Segment]:
    """All segments of the environment, in the order of their keys."""
    return [segment_of(row) for row in await db.fetch(LIST_SEGMENTS, environment_id=environment_id)]


async def update_segment(db: Connection, segment: Segment, fields: Mapping[str, Any], now: Millis) -> Segment:
    """Write the fields; the caller has locked the row. Without a difference nothing is written."""
    changed = replace(segment, **fields)
    if changed == segment:
        return segment
    stored = _stored({name: getattr(changed, name) for name in ("name", "description", "condition")})
    await db.execute(UPDATE_SEGMENT, environment_id=segment.environment_id, id=segment.id, now=now, **stored)
    return replace(changed, updated_at=now)


async def delete_segment(db: Connection, segment: Segment) -> None:
    await db.execute(DELETE_SEGMENT, environment_id=segment.environment_id, id=segment.id)


def segments_listing(environment_id: EnvironmentId, *, search: str | None) -> Listing:
    parameters: dict[str, Any] = {"environment_id": environment_id}
    if search:
        parameters["search"] = search.lower()
    return Listing(
        columns=_COLUMNS,
        source="segments AS t",
        where="t.environment_id = :environment_id",
        parameters=parameters,
        unindexed="{position}(lower(t.key || ' ' || t.name), :search) > 0" if search else None,
    )


def segment_of(row: Row) -> Segment:
    return Segment(
        environment_id=row["environment_id"],
        id=SegmentId(row["id"]),
        key=SegmentKey(row["key"]),
        name=row["name"],
        description=row["description"],
        condition=json_value(row["condition"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def _stored(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": None, **fields, "condition": json_text(fields["condition"])}
