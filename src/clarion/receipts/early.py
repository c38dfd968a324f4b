"""Early reports: they arrive before the send is recorded, and are stored and retried for a minute.

A report with only the provider's message id may be early, or about a message that another application sent through
the same account. Both are stored; those that match no message in time are deleted.
"""

import logging
from functools import partial
from typing import NamedTuple

from clarion.clock import MINUTE, Millis, wall_nanoseconds
from clarion.db.port import Connection, Database
from clarion.ids import EnvironmentId, IntegrationId, MessageId, id_text
from clarion.integrations.model import Integration
from clarion.monitoring.traces.tracer import Tracer
from clarion.receipts import store
from clarion.receipts.actions import RecordedBatch, record_batch, trace_reports
from clarion.receipts.model import DeliveryReport
from clarion.vault import Vault

RETENTION = Millis(MINUTE)
"""How long a report is retried: longer than a send and recording it can take."""
RETRY_BATCH = 500

log = logging.getLogger(__name__)


Ids = tuple[EnvironmentId, IntegrationId]


class RetryResult(NamedTuple):
    """The result of retrying one batch of reports."""

    recorded: list[tuple[DeliveryReport, MessageId]]
    last: bytes | None
    """The digest after which the next batch starts; None after the last batch."""


async def record_early_reports(
    database: Database, vault: Vault, now: Millis, *, limit: int = RETRY_BATCH, tracer: Tracer | None = None
) -> None:
    """Record early reports whose messages exist now, and delete those that waited too long."""
    # Deletes also reports that cannot be recorded for any other reason.
    await database.transaction(partial(store.delete_old_early_reports, before=Millis(now - 2 * RETENTION)))
    for ids in await database.read(store.list_early_integrations):
        integration = await database.read(
            partial(store.find_integration, environment_id=ids[0], integration_id=ids[1], vault=vault)
        )
        recorded, last = 0, b""
        while True:
            work = partial(_retry_batch, ids=ids, integration=integration, after=last, limit=limit, now=now)
            started_at = 0 if tracer is None else wall_nanoseconds()
            result = await database.transaction(work)
            recorded += len(result.recorded)
            if tracer is not None and integration is not None:
                await trace_reports(database, tracer, integration, result.recorded, started_at)
            if result.last is None:
                break
            last = result.last
        if recorded:
            fields = {"environment_id": id_text(ids[0]), "integration_id": id_text(ids[1]), "recorded": recorded}
            log.info("Early receipts", extra=fields)


async def _retry_batch(
    db: Connection, *, ids: Ids, integration: Integration | None, after: bytes, limit: int, now: Millis
) -> RetryResult:
    stored = await store.lock_early_reports(db, *ids, after=after, limit=limit)
    reports = [report for report, _ in stored]
    found_none = RecordedBatch([], [])
    recorded, unmatched = await record_batch(db, integration, reports, now) if integration and reports else found_none
    waiting = {one.digest for one in unmatched}
    finished = [one.digest for one, at in stored if one.digest not in waiting or at <= now - RETENTION]
    if finished:
        await store.delete_early_reports(db, *ids, finished)
    return RetryResult(recorded, reports[-1].digest if len(stored) == limit else None)
