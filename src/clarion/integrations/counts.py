"""SQL of how many calls of providers succeeded and failed, and how long they took: one row for each hour."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from clarion.clock import HOUR, Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, IntegrationId, first_id, id_millis, random_bytes

SLOTS = 8
OWN_SLOT = random_bytes(1)[0] % SLOTS
"""Of this process."""

# PostgreSQL would lock the row of an hour until the transaction is durable: workers take turns less with several rows.
ADD_COUNT = sql("""
    INSERT INTO integration_counts (environment_id, id, integration_id, slot, sent, failed, milliseconds, slowest)
    VALUES (:environment_id, :hour, :integration_id, :slot, :sent, :failed, :milliseconds, :slowest)
    ON CONFLICT (environment_id, id, integration_id, slot) DO UPDATE
    SET sent = integration_counts.sent + excluded.sent, failed = integration_counts.failed + excluded.failed,
        milliseconds = integration_counts.milliseconds + excluded.milliseconds,
        slowest = CASE WHEN excluded.slowest > integration_counts.slowest
                  THEN excluded.slowest ELSE integration_counts.slowest END
""")
LIST_COUNTS = sql("""
    SELECT id, integration_id, sent, failed, milliseconds, slowest FROM integration_counts
    WHERE environment_id = :environment_id AND id >= :first AND id < :last ORDER BY id
""")


class CallCount(Struct, kw_only=True):
    """Calls of a provider through one integration."""

    sent: int = 0
    failed: int = 0
    milliseconds: int = 0
    """That all of them took together."""
    slowest: int = 0

    def add_call(self, milliseconds: int, *, has_failed: bool) -> None:
        self.sent += not has_failed
        self.failed += has_failed
        self.milliseconds += milliseconds
        self.slowest = max(self.slowest, milliseconds)

    def add(self, other: "CallCount") -> None:
        self.sent += other.sent
        self.failed += other.failed
        self.milliseconds += other.milliseconds
        self.slowest = max(self.slowest, other.slowest)

    @property
    def average(self) -> int | None:
        """Milliseconds of a call; None without calls."""
        calls = self.sent + self.failed
        return round(self.milliseconds / calls) if calls else None


class HourCount(Struct, frozen=True, kw_only=True):
    """The calls of one hour, or of a part of it."""

    hour: Millis
    integration_id: IntegrationId
    count: CallCount


async def add_counts(
    db: Connection, environment_id: EnvironmentId, counts: Iterable[tuple[IntegrationId, CallCount]], now: Millis
) -> None:
    """Add to the counts of this hour."""
    hour = first_id(start_of_hour(now))
    # Sorted, so that two transactions cannot deadlock. One by one: there are hardly ever more than two.
    for integration_id, count in sorted(counts, key=lambda pair: pair[0]):
        await db.execute(
            ADD_COUNT,
            environment_id=environment_id,
            hour=hour,
            integration_id=integration_id,
            slot=OWN_SLOT,
            sent=count.sent,
            failed=count.failed,
            milliseconds=count.milliseconds,
            slowest=count.slowest,
        )


async def list_counts(
    db: Connection, environment_id: EnvironmentId, *, after: Millis, before: Millis
) -> Sequence[HourCount]:
    """List the counts of all hours that begin in this time, in their order; one hour may have several."""
    rows = await db.fetch(
        LIST_COUNTS, environment_id=environment_id, first=first_id(start_of_hour(after)), last=first_id(before)
    )
    return [
        HourCount(
            hour=id_millis(row["id"]),
            integration_id=row["integration_id"],
            count=CallCount(
                sent=row["sent"], failed=row["failed"], milliseconds=row["milliseconds"], slowest=row["slowest"]
            ),
        )
        for row in rows
    ]


def start_of_hour(moment: Millis) -> Millis:
    return Millis(moment - moment % HOUR)
