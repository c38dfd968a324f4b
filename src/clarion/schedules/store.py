"""SQL of schedules, and of what they did."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from clarion.clock import Millis
from clarion.db.listing import Listing, add_lengths
from clarion.db.port import Connection, Row
from clarion.db.query import Insert, sql
from clarion.errors import NotFound
from clarion.ids import EnvironmentId, ScheduleId, ScheduleKey, SegmentKey, SubscriberKey, TransactionKey
from clarion.jsontext import json_text, json_value
from clarion.schedules.model import MAX_KEPT_RUNS, CatchUp, ScheduleRun, Timing, TriggerSchedule

_FIELDS = (
    *("environment_id", "id", "key", "name", "workflow", "recipients", "timing", "payload", "overrides", "context"),
    *("catch_up", "paused", "done_until", "next_at", "created_at", "updated_at"),
)
_COLUMNS = ", ".join(f"t.{name}" for name in _FIELDS)
_BY_KEY = f"SELECT {_COLUMNS} FROM schedules AS t WHERE t.environment_id = :environment_id AND t.key = :key"
_CHANGED = [name for name in _FIELDS if name not in ("environment_id", "id", "key", "created_at")]

INSERT_SCHEDULE = sql(f"""
    INSERT INTO schedules ({", ".join(_FIELDS)}) VALUES ({", ".join(f":{name}" for name in _FIELDS)})
    ON CONFLICT (environment_id, key) DO NOTHING
    RETURNING id
""")
FIND_SCHEDULE = sql(_BY_KEY)
LOCK_SCHEDULE = sql(f"{_BY_KEY} {{for_update}}")
LIST_SCHEDULES = sql(f"""
    SELECT {_COLUMNS} FROM schedules AS t WHERE t.environment_id = :environment_id ORDER BY t.key
""")
COUNT_SCHEDULES = sql("SELECT count(*) AS found FROM schedules WHERE environment_id = :environment_id")
# Every row that names something has its key as a JSON text; who asks looks closer. Payloads are large, and not read.
_NAMING = """
    SELECT environment_id, id, key, name, recipients FROM schedules
    WHERE environment_id = :environment_id AND {position}(recipients, :name) > 0 ORDER BY id
"""
LIST_NAMING = sql(_NAMING)
LOCK_NAMING = sql(f"{_NAMING} {{for_update}}")
UPDATE_RECIPIENTS = sql("""
    UPDATE schedules SET recipients = :recipients WHERE environment_id = :environment_id AND id = :id
""")
EMPTY_SCHEDULE = sql("""
    UPDATE schedules SET recipients = '[]', payload = '{}', overrides = NULL, context = NULL, next_at = NULL
    WHERE environment_id = :environment_id AND id = :id
""")
UPDATE_SCHEDULE = sql(f"""
    UPDATE schedules SET {", ".join(f"{name} = :{name}" for name in _CHANGED)}
    WHERE environment_id = :environment_id AND id = :id
""")
DELETE_SCHEDULE = sql("DELETE FROM schedules WHERE environment_id = :environment_id AND id = :id")
DELETE_RUNS = sql("DELETE FROM schedule_runs WHERE environment_id = :environment_id AND schedule_id = :schedule_id")
FIND_TIMEZONE = sql("SELECT id AS environment_id, timezone FROM environments WHERE id = :environment_id")

FIND_NEXT_DUE = sql("""
    SELECT next_at, environment_id FROM schedules
    WHERE next_at IS NOT NULL AND NOT id {any:postponed} ORDER BY next_at, id LIMIT 1
""")
CLAIM_DUE = sql(f"""
    SELECT {_COLUMNS} FROM schedules AS t
    WHERE t.next_at IS NOT NULL AND t.next_at <= :now AND NOT t.id {{any:postponed}}
    ORDER BY t.next_at, t.id LIMIT :limit {{skip_locked}}
""")
MARK_DONE = sql("""
    UPDATE schedules SET done_until = :done_until, next_at = :next_at
    {each: environment_id uuid, id uuid, done_until bigint, next_at bigint}
    WHERE environment_id = :environment_id AND id = :id
""")
RUNS = Insert(
    "schedule_runs",
    *("environment_id", "schedule_id", "moment", "timezone", "transaction_key", "trouble", "at"),
    on_conflict="ON CONFLICT (environment_id, schedule_id, moment, timezone) DO NOTHING",
)
DELETE_OLD_RUNS = sql("""
    DELETE FROM schedule_runs WHERE environment_id = :environment_id AND schedule_id = :schedule_id AND moment < (
        SELECT r.moment FROM schedule_runs AS r
        WHERE r.environment_id = :environment_id AND r.schedule_id = :schedule_id
        ORDER BY r.moment DESC LIMIT 1 OFFSET :kept
    )
""")
_RUN_COLUMNS = "r.environment_id, r.schedule_id, r.moment, r.timezone, r.transaction_key, r.trouble, r.at"
_OF_SCHEDULE = "r.environment_id = :environment_id AND r.schedule_id = :schedule_id"
LIST_RUNS = sql(f"""
    SELECT {_RUN_COLUMNS}, (
        SELECT count(*) FROM (
            SELECT 1 FROM notifications AS n
            WHERE n.environment_id = r.environment_id AND n.trigger_id = (
                SELECT id FROM triggers
                WHERE environment_id = r.environment_id AND transaction_key = r.transaction_key
            )
            LIMIT :max_people
        ) AS counted
    ) AS people
    FROM schedule_runs AS r WHERE {_OF_SCHEDULE} ORDER BY r.moment DESC, r.timezone LIMIT :limit
""")
LIST_LAST_RUNS = sql(f"""
    SELECT {_RUN_COLUMNS} FROM schedule_runs AS r
    JOIN (
        SELECT environment_id, schedule_id, max(moment) AS moment FROM schedule_runs
        WHERE environment_id = :environment_id AND schedule_id {{any:ids}} GROUP BY environment_id, schedule_id
    ) AS last
    ON r.environment_id = last.environment_id AND r.schedule_id = last.schedule_id AND r.moment = last.moment
    ORDER BY r.timezone
""")

_FIND_ZONE = """
    SELECT timezone FROM subscribers
    WHERE environment_id = :environment_id AND timezone IS NOT NULL%s ORDER BY timezone LIMIT 1
"""
# A look-up in the index for each zone, however many people are in it.
LIST_ZONES = sql(f"""
    WITH RECURSIVE zones (zone) AS (
        SELECT * FROM ({_FIND_ZONE % ""}) AS first_zone
        UNION ALL
        SELECT ({_FIND_ZONE % " AND timezone > zones.zone"}) FROM zones WHERE zones.zone IS NOT NULL
    )
    SELECT zone FROM zones WHERE zone IS NOT NULL
""")

_TIMING = msgspec.json.Decoder(Timing)
_NONE = ScheduleId(bytes(16))


async def insert_schedule(db: Connection, schedule: TriggerSchedule) -> bool:
    """Store a new schedule; returns False if there is one with the key."""
    return await db.fetch_one(INSERT_SCHEDULE, **_row(schedule)) is not None


async def get_schedule(
    db: Connection, environment_id: EnvironmentId, key: ScheduleKey, *, for_update: bool = False
) -> TriggerSchedule:
    query = LOCK_SCHEDULE if for_update else FIND_SCHEDULE
    row = await db.fetch_one(query, environment_id=environment_id, key=key)
    if row is None:
        raise NotFound("Schedule", key)
    return schedule_of(row)


async def count_schedules(db: Connection, environment_id: EnvironmentId) -> int:
    row = await db.fetch_one(COUNT_SCHEDULES, environment_id=environment_id)
    return 0 if row is None else int(row["found"])


async def list_schedules(db: Connection, environment_id: EnvironmentId) -> list[TriggerSchedule]:
    """All schedules of the environment, in the order of their keys."""
    return [schedule_of(row) for row in await db.fetch(LIST_SCHEDULES, environment_id=environment_id)]


class NamingSchedule(Struct, frozen=True, kw_only=True):
    """A schedule that may name a person, a topic or a segment."""

    environment_id: EnvironmentId
    id: ScheduleId
    key: ScheduleKey
    name: str
    recipients: list[Any]


async def lock_schedules_naming(
    db: Connection, environment_id: EnvironmentId, key: SubscriberKey
) -> list[NamingSchedule]:
    """Those that may have the key of a person in their recipients."""
    rows = await db.fetch(LOCK_NAMING, environment_id=environment_id, name=json_text(key))
    return [_naming_of(row) for row in rows]


async def list_schedules_for_segment(
    db: Connection, environment_id: EnvironmentId, key: SegmentKey
) -> list[NamingSchedule]:
    rows = await db.fetch(LIST_NAMING, environment_id=environment_id, name=json_text(key))
    return [
        schedule
        for schedule in map(_naming_of, rows)
        if any(isinstance(one, dict) and one.get("segmentKey") == key for one in schedule.recipients)
    ]


async def update_recipients(db: Connection, schedule: NamingSchedule, recipients: list[Any]) -> None:
    """Write whom it is for; one that is for nobody ends, and its payload is deleted."""
    scope = {"environment_id": schedule.environment_id, "id": schedule.id}
    if recipients:
        await db.execute(UPDATE_RECIPIENTS, **scope, recipients=json_text(recipients))
    else:
        await db.execute(EMPTY_SCHEDULE, **scope)


async def update_schedule(db: Connection, schedule: TriggerSchedule) -> None:
    """Write all that can change; the caller has locked the row."""
    row = _row(schedule)
    await db.execute(UPDATE_SCHEDULE, **{name: row[name] for name in ("environment_id", "id", *_CHANGED)})


async def delete_schedule(db: Connection, schedule: TriggerSchedule) -> None:
    await db.execute(DELETE_RUNS, environment_id=schedule.environment_id, schedule_id=schedule.id)
    await db.execute(DELETE_SCHEDULE, environment_id=schedule.environment_id, id=schedule.id)


async def get_default_timezone(db: Connection, environment_id: EnvironmentId) -> str:
    """The zone of an environment's people who have none."""
    row = await db.fetch_one(FIND_TIMEZONE, environment_id=environment_id)
    return (None if row is None else row["timezone"]) or "UTC"


async def list_zones(db: Connection, environment_id: EnvironmentId) -> list[str]:
    """The time zones that people of an environment have."""
    return [row["zone"] for row in await db.fetch(LIST_ZONES, environment_id=environment_id)]


async def find_next_due(db: Connection, postponed: Sequence[ScheduleId]) -> Millis | None:
    """When the next schedule of all environments is to be looked at."""
    row = await db.fetch_one(FIND_NEXT_DUE, postponed=list(postponed) or [_NONE])
    return None if row is None else Millis(row["next_at"])


async def claim_due(
    db: Connection, now: Millis, postponed: Sequence[ScheduleId], *, limit: int
) -> list[TriggerSchedule]:
    """The next schedules whose moment has come, of all environments, without those that are being changed."""
    rows = await db.fetch(CLAIM_DUE, now=now, postponed=list(postponed) or [_NONE], limit=limit)
    return [schedule_of(row) for row in rows]


async def mark_done(db: Connection, schedules: Sequence[TriggerSchedule]) -> None:
    """Write how far schedules have come; the caller has claimed them."""
    rows = [
        {"environment_id": one.environment_id, "id": one.id, "done_until": one.done_until, "next_at": one.next_at}
        for one in schedules
    ]
    if rows:
        await db.execute_many(MARK_DONE, rows)


async def insert_runs(db: Connection, runs: Sequence[ScheduleRun]) -> None:
    """Note what schedules did, and delete the oldest notes about them."""
    rows = [
        (one.environment_id, one.schedule_id, one.moment, one.timezone, one.transaction_key, one.trouble, one.at)
        for one in runs
    ]
    if rows:
        await db.insert_many(RUNS, rows)
    for environment_id, schedule_id in {(one.environment_id, one.schedule_id) for one in runs}:
        scope = {"environment_id": environment_id, "schedule_id": schedule_id}
        await db.execute(DELETE_OLD_RUNS, **scope, kept=MAX_KEPT_RUNS - 1)


async def list_runs(
    db: Connection, schedule: TriggerSchedule, *, limit: int, max_people: int
) -> list[tuple[ScheduleRun, int]]:
    """The last runs, newest first, each with how many people got one, counted up to a limit."""
    scope = {"environment_id": schedule.environment_id, "schedule_id": schedule.id}
    rows = await db.fetch(LIST_RUNS, **scope, limit=limit, max_people=max_people)
    return [(_run_of(row), row["people"]) for row in rows]


async def list_last_runs(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[ScheduleId]
) -> dict[ScheduleId, ScheduleRun]:
    """The last run of each of these schedules that has one."""
    rows = await db.fetch(LIST_LAST_RUNS, environment_id=environment_id, ids=list(ids)) if ids else ()
    return {run.schedule_id: run for run in map(_run_of, rows)}


def schedules_listing(environment_id: EnvironmentId, *, search: str | None) -> Listing:
    parameters: dict[str, Any] = {"environment_id": environment_id}
    if search:
        parameters["search"] = search.lower()
    return Listing(
        columns=_COLUMNS,
        source="schedules AS t",
        where="t.environment_id = :environment_id",
        parameters=parameters,
        weight=add_lengths("t.payload", "t.overrides", "t.recipients"),
        unindexed="{position}(lower(t.key || ' ' || t.name), :search) > 0" if search else None,
    )


def schedule_of(row: Row) -> TriggerSchedule:
    return TriggerSchedule(
        environment_id=row["environment_id"],
        id=ScheduleId(row["id"]),
        key=ScheduleKey(row["key"]),
        name=row["name"],
        workflow=row["workflow"],
        recipients=json_value(row["recipients"]) or [],
        is_for_everyone=row["recipients"] is None,
        timing=_TIMING.decode(row["timing"]),
        payload=json_value(row["payload"]),
        overrides=json_value(row["overrides"]),
        contexts=json_value(row["context"]),
        catch_up=CatchUp(row["catch_up"]),
        paused=bool(row["paused"]),
        done_until=row["done_until"],
        next_at=row["next_at"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def _naming_of(row: Row) -> NamingSchedule:
    return NamingSchedule(
        environment_id=row["environment_id"],
        id=ScheduleId(row["id"]),
        key=ScheduleKey(row["key"]),
        name=row["name"],
        recipients=json_value(row["recipients"]),
    )


def _row(schedule: TriggerSchedule) -> dict[str, Any]:
    same = {name: getattr(schedule, name) for name in _FIELDS if name not in ("recipients", "context")}
    return {
        **same,
        "recipients": None if schedule.is_for_everyone else json_text(schedule.recipients),
        "timing": json_text(schedule.timing),
        "payload": json_text(schedule.payload),
        "overrides": None if schedule.overrides is None else json_text(schedule.overrides),
        "context": None if schedule.contexts is None else json_text(schedule.contexts),
    }


def _run_of(row: Row) -> ScheduleRun:
    return ScheduleRun(
        environment_id=row["environment_id"],
        schedule_id=ScheduleId(row["schedule_id"]),
        moment=row["moment"],
        timezone=row["timezone"],
        transaction_key=None if row["transaction_key"] is None else TransactionKey(row["transaction_key"]),
        trouble=row["trouble"],
        at=row["at"],
    )
