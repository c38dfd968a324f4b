"""Which workers are alive, and which lanes are whose.

Each worker writes a heartbeat and reads who else has one; the lanes are divided evenly among the live ones. The
division is about speed alone: two workers that see different members at worst try to lock the same lane.
"""

from clarion.background import BackgroundService, ServiceName
from clarion.clock import SECOND, Millis
from clarion.db.clock import POSTGRES_NOW
from clarion.db.port import Connection, Database, Dialect
from clarion.db.query import sql
from clarion.ids import new_id
from clarion.jobs.lanes import ALL_LANES, LANES, LaneSet

HEARTBEAT = Millis(SECOND)
LIFETIME = Millis(4 * SECOND)
"""A worker that wrote no heartbeat for this long is taken to be dead."""

BEAT = sql(f"""
    INSERT INTO workers (id, seen_at) VALUES (:id, {POSTGRES_NOW})
    ON CONFLICT (id) DO UPDATE SET seen_at = EXCLUDED.seen_at
""")
LIST_ALIVE = sql(f"SELECT id FROM workers WHERE seen_at > {POSTGRES_NOW} - :lifetime ORDER BY id")
DELETE_DEAD = sql(f"DELETE FROM workers WHERE seen_at < {POSTGRES_NOW} - :age")
LEAVE = sql("DELETE FROM workers WHERE id = :id")


class Membership:
    """This worker's place among the live ones; alone until told otherwise."""

    def __init__(self, database: Database, now: Millis) -> None:
        self._database = database
        self._id = new_id(now)
        self.lanes: LaneSet = ALL_LANES

    @property
    def is_alone(self) -> bool:
        """Whether all lanes are this worker's."""
        return self.lanes == ALL_LANES

    def list_services(self) -> list[BackgroundService]:
        """Heartbeats until the worker leaves; on SQLite there are no others."""
        if self._database.dialect is Dialect.SQLITE:
            return []
        beats = BackgroundService(
            name=ServiceName.MEMBERSHIP, run_once=self.beat, interval=HEARTBEAT / SECOND, finish=self._leave
        )
        return [beats]

    async def beat(self) -> None:
        """Write a heartbeat and take the share of lanes that the live workers leave to this one."""
        alive = await self._database.transaction(self._exchange)
        self.lanes = divide_lanes(alive, self._id)

    async def _exchange(self, db: Connection) -> list[bytes]:
        await db.execute(BEAT, id=self._id)
        await db.execute(DELETE_DEAD, age=10 * LIFETIME)
        return [row["id"] for row in await db.fetch(LIST_ALIVE, lifetime=LIFETIME)]

    async def _leave(self) -> None:
        await self._database.transaction(lambda db: db.execute(LEAVE, id=self._id))


def divide_lanes(alive: list[bytes], own: bytes) -> LaneSet:
    """An even, contiguous share of the lanes for each live worker; all of them for one that nobody knows yet."""
    if own not in alive:
        return ALL_LANES
    place, count = alive.index(own), len(alive)
    return LaneSet.of(range(place * LANES // count, (place + 1) * LANES // count))
