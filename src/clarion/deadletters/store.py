"""SQL of dead letters: jobs whose last attempt to send failed."""

from collections.abc import Sequence
from typing import Any

from clarion.clock import Millis
from clarion.db.listing import Listing
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.deadletters.model import POSSIBLY_DELIVERED, DeadLetter, DeadLetterFilter
from clarion.http.pages import OffsetPage, list_offset_page
from clarion.ids import EnvironmentId, JobId
from clarion.jobs import sends
from clarion.jobs.details import DetailStatus, ExecutionDetail
from clarion.jobs.model import ATTEMPTS_PER_DRIVE
from clarion.vocabulary import Channel

MAX_REDRIVEN = 10_000
"""In one transaction."""

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
# Receipts of earlier attempts say nothing about the next one. Messages of the job that were sent stay as they are.
REOPEN_MESSAGES = sql("""
    UPDATE messages SET delivery = NULL, retry_at = NULL, given_up_at = NULL
    WHERE environment_id = :environment_id AND job_id {any:job_ids} AND channel <> 'in_app'
    AND provider_message_id IS NULL AND (delivery IS NOT NULL OR retry_at IS NOT NULL OR given_up_at IS NOT NULL)
""")


async def list_dead_letters(
    db: Connection, environment_id: EnvironmentId, wanted: DeadLetterFilter, *, page: int, limit: int
) -> OffsetPage[DeadLetter]:
    """Return one page, ordered by the creation of the job, newest first."""
    where, parameters = _conditions(environment_id, wanted)
    listing = Listing(columns=_COLUMNS, source="jobs AS t", where=where, parameters=parameters)
    found: OffsetPage[Row] = await list_offset_page(db, listing, page=page, limit=limit, render=dict)
    return found.with_data(await _load_dead_letters(db, environment_id, found.data))


async def redrive_dead_letters(
    db: Connection, environment_id: EnvironmentId, wanted: DeadLetterFilter, now: Millis
) -> int:
    """Queue up to `MAX_REDRIVEN` jobs again with new attempts; returns how many."""
    where, parameters = _conditions(environment_id, wanted)
    dead = sql(f"SELECT t.id FROM jobs AS t WHERE {where} ORDER BY t.dead_at, t.id LIMIT :limit")
    ids = [row["id"] for row in await db.fetch(dead, **parameters, limit=MAX_REDRIVEN)]
    detail = ExecutionDetail(at=now, status=DetailStatus.PENDING, detail="Redriven", is_retry=True)
    redriven = await sends.redrive(db, environment_id, ids, detail, now)
    if redriven:
        await db.execute(REOPEN_MESSAGES, environment_id=environment_id, job_ids=redriven)
    return len(redriven)


def _conditions(environment_id: EnvironmentId, wanted: DeadLetterFilter) -> tuple[str, dict[str, Any]]:
    given: dict[str, dict[str, Any]] = {
        "t.id {any:job_ids}": {"job_ids": None if wanted.ids is None else list(wanted.ids)},
        "t.type = :channel": {"channel": wanted.channel},
        _OF_PROVIDER: {"provider_id": wanted.provider_id},
        _OF_SUBSCRIBER: {"subscriber_key": wanted.subscriber_key},
    }
    used = {condition: bound for condition, bound in given.items() if None not in bound.values()}
    parameters = {name: value for bound in used.values() for name, value in bound.items()}
    where = " AND ".join(["t.environment_id = :environment_id", "t.dead_at IS NOT NULL", *used])
    return where, {"environment_id": environment_id, **parameters}


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
        errors=tuple(one["error_text"] for one in errors if one["error_text"]),
        is_possibly_delivered=any(one["error_id"] == POSSIBLY_DELIVERED for one in errors),
        died_at=row["dead_at"],
        created_at=row["created_at"],
    )
