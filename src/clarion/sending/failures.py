"""What providers said when the newest calls of an integration failed."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, IntegrationId, JobId, MessageId, NotificationId, id_text
from clarion.jobs.details import DetailStatus, ExecutionDetail, read_details
from clarion.providers.definition.result import FailureKind
from clarion.sending.calls import FailedCall, list_errors

LIST_JOBS = sql("""
    SELECT id, notification_id, details FROM jobs WHERE environment_id = :environment_id AND id {any:ids}
""")


class CallError(Struct, frozen=True, kw_only=True):
    at: Millis
    message_id: MessageId
    job_id: JobId
    notification_id: NotificationId
    kind: FailureKind
    message: str
    answer: Any


async def list_call_errors(
    db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId
) -> list[CallError]:
    """List the newest calls that failed, the newest first; those of runs that are deleted are left out."""
    failed = await list_errors(db, environment_id, integration_id)
    ids = list({one.job_id for one in failed})
    jobs = {row["id"]: row for row in await db.fetch(LIST_JOBS, environment_id=environment_id, ids=ids)} if ids else {}
    found = []
    for one in failed:
        job = jobs.get(one.job_id)
        detail = None if job is None else _find_detail(one, integration_id, read_details(one.job_id, job["details"]))
        if job is not None and detail is not None:
            found.append(
                CallError(
                    at=one.at,
                    message_id=one.message_id,
                    job_id=one.job_id,
                    notification_id=job["notification_id"],
                    kind=FailureKind(detail.raw["kind"]),
                    message=str(detail.raw["message"]),
                    answer=detail.raw.get("answer"),
                )
            )
    return found


def _find_detail(
    call: FailedCall, integration_id: IntegrationId, details: Sequence[ExecutionDetail]
) -> ExecutionDetail | None:
    """Find the failure of this moment after the selection of the integration."""
    wanted, is_selected = id_text(integration_id), False
    for one in details:
        raw = one.raw if isinstance(one.raw, dict) else {}
        if one.at != call.at:
            continue
        if "_integrationId" in raw:
            is_selected = raw["_integrationId"] == wanted
        elif is_selected and one.status is DetailStatus.FAILED and {"kind", "message"} <= raw.keys():
            return one
    return None
