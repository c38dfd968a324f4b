"""Calls of providers: how many there were in each hour, which failed last, and what the provider said then."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, IntegrationId, JobId, MessageId, NotificationId, id_text
from clarion.integrations.counts import CallCount, add_counts
from clarion.jobs.details import DetailStatus, ExecutionDetail, read_details
from clarion.jsontext import json_text
from clarion.providers.definition.result import FailureKind
from clarion.sending.health import lock_health
from clarion.sending.model import ClaimedSend

MAX_ERRORS = 20

LIST_ERRORS = sql("""
    SELECT integration_id, errors FROM integration_health
    WHERE environment_id = :environment_id AND integration_id {any:ids} AND errors IS NOT NULL
""")
UPDATE_ERRORS = sql("""
    UPDATE integration_health SET errors = :errors
    WHERE environment_id = :environment_id AND integration_id = :integration_id
""")
LIST_JOBS = sql("""
    SELECT id, notification_id, details FROM jobs WHERE environment_id = :environment_id AND id {any:ids}
""")


class FailedCall(Struct, frozen=True, array_like=True):
    """A call that failed; what the provider said is among the execution details of the job."""

    at: Millis
    job_id: JobId
    message_id: MessageId


class CallError(Struct, frozen=True, kw_only=True):
    at: Millis
    message_id: MessageId
    job_id: JobId
    notification_id: NotificationId
    kind: FailureKind
    message: str
    answer: Any


_decode_errors = msgspec.json.Decoder(list[FailedCall]).decode


async def record_calls(
    db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend], now: Millis
) -> None:
    """Add the calls of sends to the counts of their integrations."""
    counts: dict[IntegrationId, CallCount] = {}
    failed: dict[IntegrationId, list[FailedCall]] = {}
    for send in sends:
        for call in send.calls:
            count = counts.get(call.integration_id) or counts.setdefault(call.integration_id, CallCount())
            count.add_call(call.milliseconds, has_failed=call.has_failed)
            if call.has_failed:
                one = FailedCall(call.at, send.job.id, call.message_id)
                failed.setdefault(call.integration_id, []).append(one)
    if failed:
        await _add_errors(db, environment_id, failed)
    await add_counts(db, environment_id, counts.items(), now)


async def list_errors(db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId) -> list[FailedCall]:
    """List the newest calls of an integration that failed, the newest first."""
    row = await db.fetch_one(LIST_ERRORS, environment_id=environment_id, ids=[integration_id])
    return [] if row is None else _decode_errors(row["errors"])[::-1]


async def list_call_errors(
    db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId
) -> list[CallError]:
    """List the newest calls that failed, the newest first; those of runs that are deleted are left out."""
    failed = await list_errors(db, environment_id, integration_id)
    ids = list({call.job_id for call in failed})
    jobs = {row["id"]: row for row in await db.fetch(LIST_JOBS, environment_id=environment_id, ids=ids)} if ids else {}
    errors = []
    for call in failed:
        job = jobs.get(call.job_id)
        detail = None if job is None else _find_detail(call, integration_id, read_details(call.job_id, job["details"]))
        if job is not None and detail is not None:
            errors.append(
                CallError(
                    at=call.at,
                    message_id=call.message_id,
                    job_id=call.job_id,
                    notification_id=job["notification_id"],
                    kind=FailureKind(detail.raw["kind"]),
                    message=str(detail.raw["message"]),
                    answer=detail.raw.get("answer"),
                )
            )
    return errors


async def _add_errors(
    db: Connection, environment_id: EnvironmentId, failed: dict[IntegrationId, list[FailedCall]]
) -> None:
    await lock_health(db, environment_id, failed)
    rows = await db.fetch(LIST_ERRORS, environment_id=environment_id, ids=list(failed))
    stored = {row["integration_id"]: _decode_errors(row["errors"]) for row in rows}
    for integration_id, errors in failed.items():
        newest = [*stored.get(integration_id, ()), *errors][-MAX_ERRORS:]
        await db.execute(
            UPDATE_ERRORS, environment_id=environment_id, integration_id=integration_id, errors=json_text(newest)
        )


def _find_detail(
    call: FailedCall, integration_id: IntegrationId, details: Sequence[ExecutionDetail]
) -> ExecutionDetail | None:
    """Find the failure of this moment after the selection of the integration."""
    wanted, is_selected = id_text(integration_id), False
    for detail in details:
        raw = detail.raw if isinstance(detail.raw, dict) else {}
        if detail.at != call.at:
            continue
        if "_integrationId" in raw:
            is_selected = raw["_integrationId"] == wanted
        elif is_selected and detail.status is DetailStatus.FAILED and {"kind", "message"} <= raw.keys():
            return detail
    return None
