"""Lanes: slices of an environment's people, and the locks that let one at a time work in a slice.

A person's runs are decided in one lane, by one worker at a time and in the order of their triggers, so that digests,
throttles and order need no further coordination. Different lanes are worked on at the same time. Deciding for people,
cancelling and deleting all hold the lanes of those people. SQLite has one writer and needs no locks. On PostgreSQL they
are advisory locks that end with the transaction.
"""

from collections.abc import Iterable, Iterator
from zlib import crc32

from msgspec import Struct

from clarion.db.port import Connection, Dialect
from clarion.db.query import sql
from clarion.db.queue_plans import PREFER_INDEX_SCANS
from clarion.ids import EnvironmentId, SubscriberKey

LANES = 32
"""Fixed: the lane of a job is stored with it."""

IN_LANES = "lane BETWEEN :first_lane AND :last_lane AND (CAST(:lane_mask AS BIGINT) >> lane) & 1 = 1"
"""SQL: whether a row is in a set of lanes; `LaneSet.parameters` are its values.

The range is checked within an index, the mask only where the set has gaps.
"""


def lane_of(key: SubscriberKey) -> int:
    """The lane of a person; the same in every process and for ever."""
    return crc32(key.encode()) % LANES


class LaneSet(Struct, frozen=True):
    """Some of the lanes, as a bit mask."""

    mask: int

    @classmethod
    def of(cls, lanes: Iterable[int]) -> "LaneSet":
        mask = 0
        for lane in lanes:
            mask |= 1 << lane
        return cls(mask)

    def __bool__(self) -> bool:
        return self.mask != 0

    def __iter__(self) -> Iterator[int]:
        return (lane for lane in range(LANES) if self.mask >> lane & 1)

    def __sub__(self, other: "LaneSet") -> "LaneSet":
        return LaneSet(self.mask & ~other.mask)

    @property
    def parameters(self) -> dict[str, int]:
        return {
            "first_lane": (self.mask & -self.mask).bit_length() - 1,
            "last_lane": self.mask.bit_length() - 1,
            "lane_mask": self.mask,
        }


ALL_LANES = LaneSet((1 << LANES) - 1)


_TRY_LOCK = sql(f"""
    SELECT COALESCE(sum(1::bigint << lane), 0)::bigint AS locked, {PREFER_INDEX_SCANS}
    FROM unnest(CAST(:lanes AS INTEGER[])) AS wanted (lane)
    WHERE pg_try_advisory_xact_lock(CAST(:base AS BIGINT) + lane)
""")
# Ordered, so that two who wait for several lanes cannot wait for each other.
_LOCK = sql("""
    SELECT pg_advisory_xact_lock(CAST(:base AS BIGINT) + lane)
    FROM (SELECT lane FROM unnest(CAST(:lanes AS INTEGER[])) AS wanted (lane) ORDER BY lane) AS ordered
""")


async def try_lock_lanes(db: Connection, environment_id: EnvironmentId, lanes: LaneSet) -> LaneSet:
    """Take those of the lanes that nobody else holds, for this unit of work; returns them."""
    if db.dialect is Dialect.SQLITE or db.is_sandbox:
        return lanes
    row = await db.fetch_one(_TRY_LOCK, base=_base(environment_id), lanes=list(lanes))
    return LaneSet(0 if row is None else int(row["locked"]))


async def lock_lanes(db: Connection, environment_id: EnvironmentId, lanes: LaneSet) -> None:
    """Wait for all of the lanes and take them for this unit of work."""
    if db.dialect is Dialect.POSTGRES and not db.is_sandbox:
        await db.fetch(_LOCK, base=_base(environment_id), lanes=list(lanes))


def _base(environment_id: EnvironmentId) -> int:
    """The key of the environment's first lock.

    Ids begin with their time of creation; the random end tells environments apart. Two that share a key hold each
    other up and are otherwise unharmed.
    """
    return int.from_bytes(environment_id[8:], signed=True) & -LANES
