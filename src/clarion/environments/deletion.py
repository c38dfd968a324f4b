"""Deletes environments: they end at once, and their rows are deleted from all tables in the background.

Any process goes on where another one was stopped: what is left to do is in the tables themselves. The row of the
environment goes last, when all tables were found empty some time after the deletion: until then, a process that has
not noticed it may still have written something.
"""

import logging
from functools import partial

from msgspec import Struct

from clarion.background import BackgroundService, ServiceName
from clarion.clock import MINUTE, Clock, Millis
from clarion.db.deletion import EFFORTS, KeyedTable, Pace, delete_rows
from clarion.db.port import Connection, Database, Dialect
from clarion.db.query import sql
from clarion.environments.actions import list_environments_to_change
from clarion.environments.model import Environment
from clarion.environments.store import list_environments
from clarion.ids import EnvironmentId, OrganizationId, id_text

SETTLES_AFTER = Millis(5 * MINUTE)
"""Longer than a process takes an API key for valid, and than sends and requests that are under way take."""

# Secrets first, then what workers look for, then the rest.
TABLES = (
    KeyedTable("api_keys", ("id",)),
    KeyedTable("integrations", ("id",)),
    KeyedTable("environment_variable_values", ("variable_id",)),
    KeyedTable("channel_connections", ("id",)),
    KeyedTable("channel_endpoints", ("id",)),
    KeyedTable("spent_oauth_states", ("id",)),
    KeyedTable("telegram_webhooks", ("id",)),
    KeyedTable("chat_links", ("digest",)),
    KeyedTable("webhook_endpoints", ("id",)),
    KeyedTable("schedules", ("id",)),
    KeyedTable("schedule_runs", ("schedule_id", "moment", "timezone")),
    KeyedTable("trigger_parts", ("id",)),
    KeyedTable("triggers", ("id",)),
    KeyedTable("jobs", ("id",)),
    KeyedTable("webhook_deliveries", ("id",)),
    KeyedTable("webhook_events", ("id",)),
    KeyedTable("webhook_event_people", ("subscriber_id", "event_id")),
    KeyedTable("notifications", ("id",)),
    KeyedTable("messages", ("id",)),
    KeyedTable("http_requests", ("job_id",)),
    KeyedTable("http_hosts", ("host",)),
    KeyedTable("http_answers", ("trigger_id", "step_id")),
    KeyedTable("digest_windows", ("id",)),
    KeyedTable("digest_events", ("window_id", "generation", "job_id")),
    KeyedTable("throttle_passes", ("throttle_id", "passed_at", "job_id")),
    KeyedTable("emitted_events", ("id",)),
    KeyedTable("event_waits", ("job_id",)),
    KeyedTable("awaited_events", ("name",)),
    KeyedTable("answers", ("notification_id", "step_id")),
    KeyedTable("trigger_attachments", ("trigger_id", "hash")),
    KeyedTable("attachments", ("hash",), max_rows=10),
    KeyedTable("subscribers", ("id",)),
    KeyedTable("subscriber_channels", ("subscriber_id", "integration_id")),
    KeyedTable("preferences", ("subscriber_id", "workflow_id", "channel")),
    KeyedTable("context_preferences", ("subscriber_id", "context_keys", "workflow_id", "channel")),
    KeyedTable("erasures", ("subscriber_id",)),
    KeyedTable("online_people", ("subscriber_id", "host_id")),
    KeyedTable("segments", ("id",)),
    KeyedTable("topics", ("id",)),
    KeyedTable("topic_subscriptions", ("id",)),
    KeyedTable("workflows", ("id",)),
    KeyedTable("workflow_versions", ("id",)),
    KeyedTable("workflow_version_notes", ("id",)),
    KeyedTable("layouts", ("id",)),
    KeyedTable("layout_versions", ("id",)),
    KeyedTable("translation_groups", ("resource_type", "resource_id")),
    KeyedTable("translations", ("resource_type", "resource_id", "locale")),
    KeyedTable("contexts", ("id",)),
    KeyedTable("integration_health", ("integration_id",)),
    KeyedTable("integration_counts", ("id", "integration_id", "slot")),
    KeyedTable("mail_reactions", ("id", "workflow_id", "slot")),
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

DISABLE_ENDPOINTS = sql("UPDATE webhook_endpoints SET active = FALSE WHERE environment_id = :environment_id AND active")
STOP_SCHEDULES = sql("UPDATE schedules SET next_at = NULL WHERE environment_id = :environment_id")
MARK_DELETED = sql("""
    UPDATE environments
    SET deleted_at = :now, updated_at = :now, name = :name, link_secret = NULL, session_epoch = session_epoch + 1,
        configuration_version = configuration_version + 1
    WHERE id = :environment_id AND deleted_at IS NULL
""")
CLEAR_PARENT = sql("UPDATE environments SET parent_id = NULL WHERE parent_id = :environment_id")
DELETE_INTEGRATIONS = sql("""
    UPDATE integrations SET deleted_at = :now, active = FALSE, is_primary = FALSE
    WHERE environment_id = :environment_id AND deleted_at IS NULL
""")
REVOKE_API_KEYS = sql("""
    UPDATE api_keys SET revoked_at = :now, sealed = NULL WHERE environment_id = :environment_id AND revoked_at IS NULL
""")
HAS_DATA = sql("""
    SELECT COALESCE(
        (SELECT 1 FROM subscribers WHERE environment_id = :environment_id LIMIT 1),
        (SELECT 1 FROM workflows WHERE environment_id = :environment_id LIMIT 1),
        (SELECT 1 FROM triggers WHERE environment_id = :environment_id LIMIT 1)
    ) IS NOT NULL AS has_data
""")
LIST_DELETED = sql("""
    SELECT id AS environment_id, organization_id, deleted_at FROM environments
    WHERE deleted_at IS NOT NULL ORDER BY deleted_at, id
""")
TRY_LOCK_DELETION = sql("SELECT pg_try_advisory_xact_lock(:key) AS is_locked")
REMOVE_ENVIRONMENT = sql("DELETE FROM environments WHERE id = :environment_id AND deleted_at IS NOT NULL")
REMOVE_ORGANIZATION = sql("""
    DELETE FROM organizations
    WHERE id = :organization_id AND NOT EXISTS (SELECT 1 FROM environments WHERE organization_id = :organization_id)
""")
REMOVE_VARIABLES = sql("""
    DELETE FROM environment_variables
    WHERE organization_id = :organization_id AND NOT EXISTS (
        SELECT 1 FROM organizations WHERE id = :organization_id
    )
""")

_LOOK_SECONDS = 5.0

log = logging.getLogger(__name__)


async def delete_environment(db: Connection, environment: Environment, now: Millis) -> None:
    """Delete a locked environment: it ends now, its name is free, and its rows are deleted in the background."""
    bound = {"environment_id": environment.id}
    # Endpoints before the environment, as everyone locks them.
    await db.execute(DISABLE_ENDPOINTS, **bound)
    name = f"{environment.name} (deleted {id_text(environment.id)})"
    await db.execute(MARK_DELETED, **bound, name=name, now=now)
    await db.execute(CLEAR_PARENT, **bound)
    await db.execute(DELETE_INTEGRATIONS, **bound, now=now)
    await db.execute(REVOKE_API_KEYS, **bound, now=now)
    await db.execute(STOP_SCHEDULES, **bound)


async def delete_organization(db: Connection, organization_id: OrganizationId, now: Millis) -> list[Environment]:
    """Delete all environments of an organization; its own row goes with the last of theirs."""
    environments = await list_environments_to_change(db, organization_id)
    for environment in environments:
        await delete_environment(db, environment, now)
    return environments


async def has_data(db: Connection, organization_id: OrganizationId) -> bool:
    """Return whether an environment of the organization has been used: has subscribers, workflows or triggers."""
    for environment in await list_environments(db, organization_id):
        row = await db.fetch_one(HAS_DATA, environment_id=environment.id)
        if row is not None and row["has_data"]:
            return True
    return False


class DeletedEnvironment(Struct, frozen=True, kw_only=True):
    """An environment that is deleted but whose rows may still exist."""

    environment_id: EnvironmentId
    organization_id: OrganizationId
    deleted_at: Millis


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
        for environment in await self._database.read(_list_deleted):
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
            count = await delete_rows(
                self._database,
                table,
                environment.environment_id,
                pace=self._pace,
                may_begin=partial(try_lock_deletion, environment_id=environment.environment_id),
            )
            if count is None:
                return None
            deleted += count
        return deleted

    async def _remove(self, environment: DeletedEnvironment) -> None:
        ids = environment.environment_id, environment.organization_id
        await self._database.transaction(lambda db: _remove_environment(db, *ids))
        self._emptied.discard(environment.environment_id)
        log.info("Environment removed", extra={"environment_id": id_text(environment.environment_id)})


async def _list_deleted(db: Connection) -> list[DeletedEnvironment]:
    """List the environments that are deleted but whose rows may still exist."""
    return [DeletedEnvironment(**row) for row in await db.fetch(LIST_DELETED)]


async def try_lock_deletion(db: Connection, environment_id: EnvironmentId) -> bool:
    """Take the lock of deleting an environment's rows for this unit of work; False if another process has it."""
    if db.dialect is Dialect.SQLITE:
        return True
    key = int.from_bytes(environment_id[4:12], signed=True)
    row = await db.fetch_one(TRY_LOCK_DELETION, key=key)
    return row is not None and bool(row["is_locked"])


async def _remove_environment(db: Connection, environment_id: EnvironmentId, organization_id: OrganizationId) -> None:
    """Delete the row of an environment whose data is gone, and of its organization if it was the last one."""
    await db.execute(REMOVE_ENVIRONMENT, environment_id=environment_id)
    await db.execute(REMOVE_ORGANIZATION, organization_id=organization_id)
    await db.execute(REMOVE_VARIABLES, organization_id=organization_id)
