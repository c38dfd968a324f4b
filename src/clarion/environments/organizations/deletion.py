"""Deletes the rows of deleted environments in the background, from all tables.

Any process goes on where another one was stopped: what is left to do is in the tables themselves. The row of the
environment goes last, when all tables were found empty some time after the deletion: until then, a process that has
not noticed it may still have written something.
"""

import logging
from functools import partial

from clarion.background import BackgroundService, ServiceName
from clarion.clock import MINUTE, Clock, Millis
from clarion.db.deletion import EFFORTS, KeyedTable, Pace, delete_rows
from clarion.db.port import Database
from clarion.environments.organizations import store
from clarion.environments.organizations.model import DeletedEnvironment
from clarion.ids import EnvironmentId, id_text

SETTLES_AFTER = Millis(5 * MINUTE)
"""Longer than a process takes an API key for valid, and than sends and requests that are under way take."""

# Secrets first, then what workers look for, then the rest.
TABLES = (
    KeyedTable("api_keys", ("id",)),
    KeyedTable("integrations", ("id",)),
    KeyedTable("webhook_endpoints", ("id",)),
    KeyedTable("trigger_parts", ("id",)),
    KeyedTable("triggers", ("id",)),
    KeyedTable("jobs", ("id",)),
    KeyedTable("webhook_deliveries", ("id",)),
    KeyedTable("webhook_events", ("id",)),
    KeyedTable("webhook_event_people", ("subscriber_id", "event_id")),
    KeyedTable("notifications", ("id",)),
    KeyedTable("messages", ("id",)),
    KeyedTable("digest_windows", ("id",)),
    KeyedTable("digest_events", ("window_id", "generation", "job_id")),
    KeyedTable("throttle_passes", ("throttle_id", "passed_at", "job_id")),
    KeyedTable("trigger_attachments", ("trigger_id", "hash")),
    KeyedTable("attachments", ("hash",), max_rows=10),
    KeyedTable("subscribers", ("id",)),
    KeyedTable("subscriber_channels", ("subscriber_id", "integration_id")),
    KeyedTable("preferences", ("subscriber_id", "workflow_id", "channel")),
    KeyedTable("erasures", ("subscriber_id",)),
    KeyedTable("online_people", ("subscriber_id", "host_id")),
    KeyedTable("topics", ("id",)),
    KeyedTable("topic_subscriptions", ("id",)),
    KeyedTable("workflows", ("id",)),
    KeyedTable("workflow_versions", ("id",)),
    KeyedTable("workflow_version_notes", ("id",)),
    KeyedTable("integration_health", ("integration_id",)),
    KeyedTable("integration_counts", ("id", "integration_id", "slot")),
    KeyedTable("suppressions", ("channel", "address")),
    KeyedTable("receipts", ("digest",)),
    KeyedTable("awaited_receipts", ("integration_id", "ticket")),
    KeyedTable("early_reports", ("integration_id", "digest")),
    KeyedTable("audit_entries", ("id",)),
    KeyedTable("rate_limit_buckets", ("category",)),
    KeyedTable("retention_progress", ("walk",)),
    KeyedTable("idempotency_keys", ("id",), is_by_environment=False),
)
"""Every table with `environment_id`, and its primary key; a test compares them with the schema."""

_LOOK_SECONDS = 5.0

log = logging.getLogger(__name__)


class EnvironmentDeleter:
    """Deletes the rows of deleted environments; any number of processes do so."""

    def __init__(self, database: Database, *, clock: Clock, pace: Pace | None = None) -> None:
        self._database = database
        self._clock = clock
        self._pace = pace or Pace(EFFORTS[database.dialect])
        self._emptied: set[EnvironmentId] = set()
        """Environments that wait only until late writes cannot come any more."""

    def make_service(self) -> BackgroundService:
        return BackgroundService(name=ServiceName.ENVIRONMENT_DELETION, run_once=self.work, interval=_LOOK_SECONDS)

    async def work(self) -> None:
        """Delete the rows of all deleted environments, and the environments themselves when their time has come."""
        for environment in await self._database.read(store.list_deleted_environments):
            is_settled = self._clock.now() >= environment.deleted_at + SETTLES_AFTER
            if environment.environment_id in self._emptied and not is_settled:
                continue
            deleted = await self._delete_rows(environment)
            if deleted:
                fields = {"environment_id": id_text(environment.environment_id), "rows": deleted}
                log.info("Rows of a deleted environment deleted", extra=fields)
            elif deleted == 0 and is_settled:
                await self._remove(environment)
            elif deleted == 0:
                self._emptied.add(environment.environment_id)

    async def _delete_rows(self, environment: DeletedEnvironment) -> int | None:
        """Return how many rows there were; None if another process deletes them."""
        deleted = 0
        for table in TABLES:
            found = await delete_rows(
                self._database,
                table,
                environment.environment_id,
                pace=self._pace,
                may_begin=partial(store.try_lock_deletion, environment_id=environment.environment_id),
            )
            if found is None:
                return None
            deleted += found
        return deleted

    async def _remove(self, environment: DeletedEnvironment) -> None:
        ids = environment.environment_id, environment.organization_id
        await self._database.transaction(lambda db: store.remove_environment(db, *ids))
        self._emptied.discard(environment.environment_id)
        log.info("Environment removed", extra={"environment_id": id_text(environment.environment_id)})
