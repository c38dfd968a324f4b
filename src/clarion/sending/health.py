"""The health of integrations: circuit breakers and rate limits, shared by all workers of a store.

A circuit is closed while its integration works, and open for a time after several failures in a row. While it is open,
messages go through other integrations of the channel. When the time is over it is half-open: one message tries the
integration, success closes the circuit, failure opens it for longer.

A rate limit is a token bucket, which also has the pauses that a provider asks for. It may be overdrawn: a message that
comes too early gets the moment at which the bucket will have refilled.

An integration without a row is healthy. Rows are changed under a lock, and only while something is the matter or a
rate limit is counted.
"""

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import MINUTE, SECOND, Millis
from clarion.db.port import Connection, Row
from clarion.db.query import Insert, sql
from clarion.ids import EnvironmentId, IntegrationId
from clarion.sending.model import HealthReport

FAILURES_TO_OPEN = 5
FIRST_PAUSE = Millis(10 * SECOND)
MAX_PAUSE = Millis(2 * MINUTE)
MAX_TRIAL = Millis(MINUTE)
"""A trial without a result counts as failed after this time."""

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


class Circuit(Struct, frozen=True, kw_only=True):
    """The circuit breaker of an integration."""

    failures: int = 0
    """In a row, failed trials included."""
    open_until: Millis | None = None
    """None while it is closed; during a trial, the end of the trial."""

    @property
    def is_failing(self) -> bool:
        return self.failures > 0

    def is_open(self, now: Millis) -> bool:
        return self.open_until is not None and self.open_until > now

    def is_half_open(self, now: Millis) -> bool:
        """Whether it was open long enough for one message to try the integration."""
        return self.open_until is not None and self.open_until <= now

    def begin_trial(self, now: Millis) -> "Circuit":
        """Let one message try the integration; for the others the circuit stays open until the trial is over."""
        return Circuit(failures=self.failures, open_until=Millis(now + MAX_TRIAL))

    def count_failure(self, now: Millis, *, is_trial: bool) -> "Circuit":
        if self.is_open(now) and not is_trial:
            # It was sent before the circuit opened, or had no other integration: nothing new.
            return self
        failures = self.failures + 1
        if failures < FAILURES_TO_OPEN:
            return Circuit(failures=failures)
        # The exponent is bounded, so that the number stays small after years of failures.
        pause = min(FIRST_PAUSE * 2 ** min(failures - FAILURES_TO_OPEN, 16), MAX_PAUSE)
        return Circuit(failures=failures, open_until=Millis(now + pause))


CLOSED = Circuit()


class TokenBucket(Struct, frozen=True, kw_only=True):
    """The rate limit of an integration, and the pause that its provider asked for."""

    tokens: float
    """Messages that may go now; below zero, how many have been given a later moment."""
    refilled_at: Millis
    """When it was refilled last; in the future while it pauses."""

    def wait(self, rate: float | None, now: Millis) -> int:
        """Milliseconds until one more message may go."""
        pause = max(self.refilled_at - now, 0)
        if rate is None:
            return pause
        missing = 1 - self.refill(rate, now).tokens
        return 0 if missing <= 0 else pause + int(missing / rate * SECOND) + 1

    def paused_until(self, now: Millis) -> Millis | None:
        """The end of the pause that a provider asked for, if it is not over."""
        return self.refilled_at if self.refilled_at > now else None

    def refill(self, rate: float, now: Millis) -> "TokenBucket":
        """Refill it up to one second's worth, and to one message at least."""
        if now <= self.refilled_at:
            return self
        gained = (now - self.refilled_at) / SECOND * rate
        return TokenBucket(tokens=min(self.tokens + gained, max(rate, 1.0)), refilled_at=now)

    def take(self, rate: float | None, now: Millis) -> "TokenBucket":
        """Let one more message go, now or when its moment comes."""
        if rate is None:
            return self
        filled = self.refill(rate, now)
        return TokenBucket(tokens=filled.tokens - 1, refilled_at=filled.refilled_at)

    def pause(self, until: Millis) -> "TokenBucket":
        """Nothing more goes until then, and what is promised goes afterwards."""
        return TokenBucket(tokens=min(self.tokens, 0.0), refilled_at=max(self.refilled_at, until))


FULL = TokenBucket(tokens=0.0, refilled_at=Millis(0))
"""A bucket that had time to refill."""


class IntegrationHealth(Struct, frozen=True, kw_only=True):
    circuit: Circuit = CLOSED
    bucket: TokenBucket = FULL


HEALTHY = IntegrationHealth()


async def list_health(db: Connection, environment_id: EnvironmentId) -> dict[IntegrationId, IntegrationHealth]:
    rows = await db.fetch(LIST_HEALTH, environment_id=environment_id)
    return {row["integration_id"]: _health(row) for row in rows}


async def lock_health(
    db: Connection, environment_id: EnvironmentId, ids: Collection[IntegrationId]
) -> dict[IntegrationId, IntegrationHealth]:
    """Lock the health of each until this unit of work is over."""
    ordered = sorted(ids)
    rows = await db.fetch(LOCK_HEALTH, environment_id=environment_id, ids=ordered)
    if len(rows) < len(ordered):
        new = [(environment_id, one, 0, None, FULL.tokens, FULL.refilled_at) for one in ordered]
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
            "allowance": health.bucket.tokens,
            "refilled_at": health.bucket.refilled_at,
        }
        for integration_id, health in changed
    ]
    if rows:
        await db.execute_many(UPDATE_HEALTH, rows)


async def record_health_reports(
    db: Connection, environment_id: EnvironmentId, reports: Sequence[HealthReport], now: Millis
) -> None:
    """Record what sends showed about the health of their integrations."""
    if not reports:
        return
    before = await lock_health(db, environment_id, {one.integration_id for one in reports})
    after = dict(before)
    for report in reports:
        after[report.integration_id] = apply_report(after[report.integration_id], report, now)
    await update_health(db, environment_id, [(one, health) for one, health in after.items() if health != before[one]])


def apply_report(health: IntegrationHealth, report: HealthReport, now: Millis) -> IntegrationHealth:
    if not report.is_working:
        return replace(health, circuit=health.circuit.count_failure(now, is_trial=report.is_trial))
    if report.wait_until is None:
        return replace(health, circuit=CLOSED)
    return IntegrationHealth(circuit=CLOSED, bucket=health.bucket.pause(report.wait_until))


def _health(row: Row) -> IntegrationHealth:
    return IntegrationHealth(
        circuit=Circuit(failures=row["failures"], open_until=row["open_until"]),
        bucket=TokenBucket(tokens=row["allowance"], refilled_at=row["refilled_at"]),
    )
