"""Deletions of messages are noted in their jobs: nothing else would tell what became of a message."""

from collections.abc import Iterable
from typing import Any

from clarion.audit.model import ActorType
from clarion.audit.recording import author_of
from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.http.operation import Call
from clarion.ids import EnvironmentId, JobId
from clarion.jobs.details import DetailCode, ExecutionDetail
from clarion.jobs.store import append_to_all

BY_SUBSCRIBER = {"by": "subscriber"}
BY_RETENTION = {"by": "retention"}


async def note_deleted(call: Call, job_ids: Iterable[JobId]) -> None:
    """Note that the caller deleted messages of jobs."""
    await note_deleted_by(call.db, call.environment_id, job_ids, describe_caller(call), call.now)


async def note_deleted_by(
    db: Connection, environment_id: EnvironmentId, job_ids: Iterable[JobId], by: dict[str, Any], now: Millis
) -> None:
    detail = ExecutionDetail.of(DetailCode.MESSAGE_DELETED, now, raw=by)
    await append_to_all(db, environment_id, job_ids, detail)


def describe_caller(call: Call) -> dict[str, Any]:
    """Who deletes or changes a message, as execution details tell it."""
    if call.caller.session is not None:
        return BY_SUBSCRIBER
    actor = author_of(call).actor
    return {"by": actor.type} | ({"name": actor.name} if actor.type is ActorType.KEY else {})
