"""SQL of dead letters: jobs whose last attempt to send failed."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from clarion.clock import Millis
from clarion.db.listing import Listing
from clarion.db.port import Connection, Row
from clarion.db.query import Query, sql
from clarion.errors import NotFound
from clarion.http.pages import OffsetPage, list_offset_page
from clarion.ids import EnvironmentId, JobId, id_text
from clarion.jobs import sends
from clarion.jobs.details import DetailCode, ExecutionDetail, read_details
from clarion.jobs.model import ATTEMPTS_PER_DRIVE
from clarion.runs.status import settle_run_statuses
from clarion.sending.dead_letters.model import (
    MAX_ERRORS,
    MAX_REDRIVEN,
    POSSIBLY_DELIVERED,
    READ_OF_ERROR,
    DeadLetter,
    DeadLetterFilter,
    DeadLetterGrouping,
    count_reasons,
)
from clarion.vocabulary import Channel

MAX_COUNTED = 10_000
"""How many of the newest dead letters are counted."""
_CHUNK = 1_000

_COLUMNS = "t.id, t.notification_id, t.type, t.provider_id, t.attempt, t.dead_at, t.created_at"
# A job can have messages that were given up at several providers.
_OF_PROVIDER = """
    (t.provider_id = :provider_id OR EXISTS (
        SELECT 1 FROM messages AS m
        WHERE m.environment_id = :environment_id AND m.job_id = t.id AND m.channel <> 'in_app'
        AND m.provider_id = :provider_id AND m.given_up_at IS NOT NULL
    ))
"""
_OF_SUBSCRIBER = """
    t.notification_id IN (
        SELECT n.id FROM notifications AS n
        JOIN subscribers AS s ON s.environment_id = n.environment_id AND s.id = n.subscriber_id
        WHERE n.environment_id = :environment_id AND s.key = :subscriber_key
    )
"""

_OF_WORKFLOW = """
    EXISTS (
        SELECT 1 FROM notifications AS n
        JOIN workflows AS w ON w.environment_id = n.environment_id AND w.id = n.workflow_id
        WHERE n.environment_id = :environment_id AND n.id = t.notification_id AND w.key = :workflow_key
    )
"""
_OF_REASON = """
    EXISTS (
        SELECT 1 FROM messages AS m
        WHERE m.environment_id = :environment_id AND m.job_id = t.id AND m.channel <> 'in_app'
        AND m.provider_message_id IS NULL AND {position}(m.error_text, :reason) = 1
    )
"""

LIST_RUNS = sql("""
    SELECT n.id, s.key AS subscriber_key, g.transaction_key, w.key AS workflow_key
    FROM notifications AS n
    JOIN subscribers AS s ON s.environment_id = n.environment_id AND s.id = n.subscriber_id
    JOIN triggers AS g ON g.environment_id = n.environment_id AND g.id = n.trigger_id
    JOIN workflows AS w ON w.environment_id = n.environment_id AND w.id = n.workflow_id
    WHERE n.environment_id = :environment_id AND n.id {any:ids}
""")
LIST_ERRORS = sql("""
    SELECT job_id, id, error_id, error_text FROM messages
    WHERE environment_id = :environment_id AND job_id {any:ids} AND channel <> 'in_app'
    AND provider_message_id IS NULL
""")
LIST_BEGINNINGS = sql(f"""
    SELECT job_id, substr(error_text, 1, {READ_OF_ERROR}) AS error_text FROM messages
    WHERE environment_id = :environment_id AND job_id {{any:ids}} AND channel <> 'in_app'
    AND provider_message_id IS NULL
""")
LIST_UNSENT = sql("""
    SELECT id, integration_id, provider_id, error_id, error_text, given_up_at FROM messages
    WHERE environment_id = :environment_id AND job_id = :job_id AND channel <> 'in_app' AND provider_message_id IS NULL
""")
FIND_DETAILS = sql("SELECT details FROM jobs WHERE environment_id = :environment_id AND id = :id")
# Receipts of earlier attempts say nothing about the next one. Messages of the job that were sent stay as they are.
REOPEN_MESSAGES = sql("""
    UPDATE messages SET delivery = NULL, retry_at = NULL, given_up_at = NULL, refused_by = NULL
    WHERE environment_id = :environment_id AND job_id {any:job_ids} AND channel <> 'in_app'
    AND provider_message_id IS NULL AND (delivery IS NOT NULL OR retry_at IS NOT NULL OR given_up_at IS NOT NULL)
""")

LIST_RUN_IDS = sql("SELECT notification_id FROM jobs WHERE environment_id = :environment_id AND id {any:job_ids}")


async def list_dead_letters(
    db: Connection, environment_id: EnvironmentId, wanted: DeadLetterFilter, *, page: int, limit: int
) -> OffsetPage[DeadLetter]:
    """Return one page, ordered by the creation of the job, newest first."""
    where, parameters = _conditions(environment_id, wanted)
    listing = Listing(columns=_COLUMNS, source="jobs AS t", where=where, parameters=parameters)
    found: OffsetPage[Row] = await list_offset_page(db, listing, page=page, limit=limit, render=dict)
    return found.with_data(await _load_dead_letters(db, environment_id, found.data))


async def get_dead_letter(db: Connection, environment_id: EnvironmentId, job_id: JobId) -> DeadLetter:
    where, parameters = _conditions(environment_id, DeadLetterFilter(ids=(job_id,)))
    rows = await db.fetch(sql(f"SELECT {_COLUMNS} FROM jobs AS t WHERE {where}"), **parameters)
    if not rows:
        raise NotFound("Job", id_text(job_id))
    return (await _load_dead_letters(db, environment_id, rows))[0]


async def list_unsent_messages(db: Connection, environment_id: EnvironmentId, job_id: JobId) -> list[Row]:
    """List the messages of a dead letter that were not sent, in order of creation."""
    rows = await db.fetch(LIST_UNSENT, environment_id=environment_id, job_id=job_id)
    return sorted(rows, key=lambda row: bytes(row["id"]))


async def list_details(db: Connection, environment_id: EnvironmentId, job_id: JobId) -> list[ExecutionDetail]:
    row = await db.fetch_one(FIND_DETAILS, environment_id=environment_id, id=job_id)
    return [] if row is None else read_details(job_id, row["details"])


async def list_dead_ids(
    db: Connection, environment_id: EnvironmentId, wanted: DeadLetterFilter, *, limit: int
) -> list[JobId]:
    """List the ids of the oldest dead letters."""
    where, parameters = _conditions(environment_id, wanted)
    dead = sql(f"SELECT t.id FROM jobs AS t WHERE {where} ORDER BY t.dead_at, t.id LIMIT :limit")
    return [row["id"] for row in await db.fetch(dead, **parameters, limit=limit)]


async def count_dead_letters(db: Connection, environment_id: EnvironmentId, wanted: DeadLetterFilter) -> int:
    """Count dead letters, up to `MAX_COUNTED`."""
    return len(await list_dead_ids(db, environment_id, wanted, limit=MAX_COUNTED))


async def count_groups(
    db: Connection, environment_id: EnvironmentId, wanted: DeadLetterFilter, grouping: DeadLetterGrouping
) -> tuple[Counter[str], int]:
    """Count the newest dead letters in groups; returns the counts, and of how many."""
    where, parameters = _conditions(environment_id, wanted)
    newest = sql(f"SELECT {_COLUMNS} FROM jobs AS t WHERE {where} ORDER BY t.dead_at DESC, t.id DESC LIMIT :limit")
    rows = await db.fetch(newest, **parameters, limit=MAX_COUNTED)
    if grouping is DeadLetterGrouping.CHANNEL:
        return Counter(str(row["type"]) for row in rows), len(rows)
    if grouping is DeadLetterGrouping.PROVIDER:
        return Counter(row["provider_id"] or "" for row in rows), len(rows)
    if grouping is DeadLetterGrouping.WORKFLOW:
        runs = await _fetch_chunks(db, LIST_RUNS, environment_id, [row["notification_id"] for row in rows])
        keys = {run["id"]: run["workflow_key"] for run in runs}
        return Counter(keys[row["notification_id"]] for row in rows if row["notification_id"] in keys), len(rows)
    errors: dict[JobId, set[str]] = {row["id"]: set() for row in rows}
    for error in await _fetch_chunks(db, LIST_BEGINNINGS, environment_id, list(errors)):
        if error["error_text"]:
            errors[error["job_id"]].add(error["error_text"])
    return count_reasons(errors), len(rows)


async def discard_dead_letters(
    db: Connection, environment_id: EnvironmentId, wanted: DeadLetterFilter, now: Millis, *, limit: int = MAX_REDRIVEN
) -> int:
    """Let the oldest jobs stay failed for good; returns how many, at most MAX_REDRIVEN."""
    ids = await list_dead_ids(db, environment_id, wanted, limit=min(limit, MAX_REDRIVEN))
    detail = ExecutionDetail.of(DetailCode.DISCARDED, now)
    return len(await sends.discard(db, environment_id, ids, detail, now))


async def redrive_dead_letters(
    db: Connection, environment_id: EnvironmentId, wanted: DeadLetterFilter, now: Millis, *, limit: int = MAX_REDRIVEN
) -> int:
    """Queue the oldest jobs again with new attempts; returns how many, at most MAX_REDRIVEN."""
    ids = await list_dead_ids(db, environment_id, wanted, limit=min(limit, MAX_REDRIVEN))
    detail = ExecutionDetail.of(DetailCode.REDRIVEN, now, is_retry=True)
    redriven = await sends.redrive(db, environment_id, ids, detail, now)
    if redriven:
        runs = await db.fetch(LIST_RUN_IDS, environment_id=environment_id, job_ids=redriven)
        await settle_run_statuses(db, environment_id, (row["notification_id"] for row in runs), now)
        await db.execute(REOPEN_MESSAGES, environment_id=environment_id, job_ids=redriven)
    return len(redriven)


def _conditions(environment_id: EnvironmentId, wanted: DeadLetterFilter) -> tuple[str, dict[str, Any]]:
    given: dict[str, dict[str, Any]] = {
        "t.id {any:job_ids}": {"job_ids": None if wanted.ids is None else list(wanted.ids)},
        "t.type = :channel": {"channel": wanted.channel},
        _OF_PROVIDER: {"provider_id": wanted.provider_id},
        _OF_SUBSCRIBER: {"subscriber_key": wanted.subscriber_key},
        _OF_WORKFLOW: {"workflow_key": wanted.workflow_key},
        _OF_REASON: {"reason": wanted.reason},
    }
    used = {condition: bound for condition, bound in given.items() if None not in bound.values()}
    parameters = {name: value for bound in used.values() for name, value in bound.items()}
    where = " AND ".join(["t.environment_id = :environment_id", "t.dead_at IS NOT NULL", *used])
    return where, {"environment_id": environment_id, **parameters}


async def _fetch_chunks(db: Connection, query: Query, environment_id: EnvironmentId, ids: Sequence[bytes]) -> list[Row]:
    rows: list[Row] = []
    for start in range(0, len(ids), _CHUNK):
        rows += await db.fetch(query, environment_id=environment_id, ids=list(ids[start : start + _CHUNK]))
    return rows


async def _load_dead_letters(db: Connection, environment_id: EnvironmentId, rows: Sequence[Row]) -> list[DeadLetter]:
    if not rows:
        return []
    run_ids = list({row["notification_id"] for row in rows})
    runs = {run["id"]: run for run in await db.fetch(LIST_RUNS, environment_id=environment_id, ids=run_ids)}
    errors: dict[JobId, list[Row]] = {}
    for error in await db.fetch(LIST_ERRORS, environment_id=environment_id, ids=[row["id"] for row in rows]):
        errors.setdefault(error["job_id"], []).append(error)
    return [_dead_letter(row, runs[row["notification_id"]], errors.get(row["id"], [])) for row in rows]


def _dead_letter(row: Row, run: Row, errors: list[Row]) -> DeadLetter:
    errors.sort(key=lambda one: bytes(one["id"]))
    return DeadLetter(
        id=row["id"],
        notification_id=row["notification_id"],
        transaction_key=run["transaction_key"],
        workflow_key=run["workflow_key"],
        subscriber_key=run["subscriber_key"],
        channel=Channel(row["type"]),
        provider_id=row["provider_id"],
        attempts=row["attempt"] % ATTEMPTS_PER_DRIVE,
        errors=tuple([one["error_text"] for one in errors if one["error_text"]][:MAX_ERRORS]),
        is_possibly_delivered=any(one["error_id"] == POSSIBLY_DELIVERED for one in errors),
        died_at=row["dead_at"],
        created_at=row["created_at"],
    )
