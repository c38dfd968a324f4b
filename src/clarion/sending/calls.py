"""Recording the calls of providers: how many there were in each hour, and which of them failed last."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, IntegrationId, JobId, MessageId
from clarion.integrations.counts import CallCount, add_counts
from clarion.jsontext import json_text
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


class FailedCall(Struct, frozen=True, array_like=True):
    """A call that failed; what the provider said is among the execution details of the job."""

    at: Millis
    job_id: JobId
    message_id: MessageId


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
