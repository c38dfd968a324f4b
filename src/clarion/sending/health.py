"""SQL of the health of integrations: circuits and quotas, shared by all workers of a store.

An integration without a row is well. Rows are changed under a lock, and only while something is the matter or a rate
limit is counted.
"""

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import Insert, sql
from clarion.ids import EnvironmentId, IntegrationId
from clarion.sending import quota
from clarion.sending.circuit import CLOSED, Circuit, note_failure
from clarion.sending.model import HealthReport
from clarion.sending.quota import FULL, QuotaBucket

_COLUMNS = "integration_id, failures, open_until, allowance, refilled_at"

LIST_HEALTH = sql(f"SELECT {_COLUMNS} FROM integration_health WHERE environment_id = :environment_id")
LOCK_HEALTH = sql(f"""
    SELECT {_COLUMNS} FROM integration_health
    WHERE environment_id = :environment_id AND integration_id {{any:ids}} ORDER BY integration_id {{for_update}}
""")
INSERT_HEALTH = Insert(
    "integration_health",
    *("environment_id", "integration_id", "failures", "open_until", "allowance", "refilled_at"),
    on_conflict="ON CONFLICT (environment_id, integration_id) DO NOTHING",
)
UPDATE_HEALTH = sql("""
    UPDATE integration_health
    SET failures = :failures, open_until = :open_until, allowance = :allowance, refilled_at = :refilled_at
    WHERE environment_id = :environment_id AND integration_id = :integration_id
""")


class IntegrationHealth(Struct, frozen=True, kw_only=True):
    circuit: Circuit = CLOSED
    bucket: QuotaBucket = FULL


WELL = IntegrationHealth()


async def list_health(db: Connection, environment_id: EnvironmentId) -> dict[IntegrationId, IntegrationHealth]:
    rows = await db.fetch(LIST_HEALTH, environment_id=environment_id)
    return {row["integration_id"]: _health(row) for row in rows}


async def lock_health(
    db: Connection, environment_id: EnvironmentId, ids: Collection[IntegrationId]
) -> dict[IntegrationId, IntegrationHealth]:
    """The health of each, which nobody else changes until this unit of work is over."""
    ordered = sorted(ids)
    rows = await db.fetch(LOCK_HEALTH, environment_id=environment_id, ids=ordered)
    if len(rows) < len(ordered):
        new = [(environment_id, one, 0, None, FULL.allowance, FULL.refilled_at) for one in ordered]
        await db.insert_many(INSERT_HEALTH, new)
        rows = await db.fetch(LOCK_HEALTH, environment_id=environment_id, ids=ordered)
    return {row["integration_id"]: _health(row) for row in rows}


async def update_health(
    db: Connection, environment_id: EnvironmentId, changed: Iterable[tuple[IntegrationId, IntegrationHealth]]
) -> None:
    rows = [
        {
            "environment_id": environment_id,
            "integration_id": integration_id,
            "failures": health.circuit.failures,
            "open_until": health.circuit.open_until,
            "allowance": health.bucket.allowance,
            "refilled_at": health.bucket.refilled_at,
        }
        for integration_id, health in changed
    ]
    if rows:
        await db.execute_many(UPDATE_HEALTH, rows)


async def record_health_reports(
    db: Connection, environment_id: EnvironmentId, reports: Sequence[HealthReport], now: Millis
) -> None:
    """Write down what sends told of their integrations."""
    if not reports:
        return
    before = await lock_health(db, environment_id, {one.integration_id for one in reports})
    after = dict(before)
    for report in reports:
        after[report.integration_id] = apply_report(after[report.integration_id], report, now)
    await update_health(db, environment_id, [(one, health) for one, health in after.items() if health != before[one]])


def apply_report(health: IntegrationHealth, report: HealthReport, now: Millis) -> IntegrationHealth:
    if not report.is_working:
        return replace(health, circuit=note_failure(health.circuit, now, is_trial=report.is_trial))
    if report.wait_until is None:
        return replace(health, circuit=CLOSED)
    return IntegrationHealth(circuit=CLOSED, bucket=quota.pause(health.bucket, report.wait_until))


def _health(row: Row) -> IntegrationHealth:
    return IntegrationHealth(
        circuit=Circuit(failures=row["failures"], open_until=row["open_until"]),
        bucket=QuotaBucket(allowance=row["allowance"], refilled_at=row["refilled_at"]),
    )
