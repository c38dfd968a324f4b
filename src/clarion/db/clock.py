"""The clock of a process: leases and due moments are compared with it, so all processes must agree on it.

On PostgreSQL it is that of the server, read every few seconds and counted on in between; how the clock of the machine
is set does not matter. On SQLite there is one process, which follows the clock of the machine without its steps: a step
forward counts when it has lasted a minute, and after a step back the clock runs at half its speed until the two agree.
Otherwise what became due by the wrong time would be done twice, or wait for as long as the step was.
"""

import logging
from collections.abc import Callable

from clarion.background import BackgroundService, ServiceName
from clarion.clock import MINUTE, SECOND, Clock, Millis, SteadyClock, SystemClock, boot_milliseconds
from clarion.db.port import Connection, Database, Dialect
from clarion.db.query import sql
from clarion.errors import StoreUnavailable

POSTGRES_NOW = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
NOW = {Dialect.SQLITE: "CAST(unixepoch('subsec') * 1000 AS INTEGER)", Dialect.POSTGRES: POSTGRES_NOW}
"""SQL: the time by the clock of the database, so that the clocks of machines do not matter."""
INTERVAL = {Dialect.SQLITE: Millis(SECOND), Dialect.POSTGRES: Millis(5 * SECOND)}
STEP = Millis(2 * SECOND)
"""A difference that is more than drift."""
LASTING = Millis(MINUTE)
"""How long a step forward of the machine's clock must last to count."""
_DRIFT = Millis(50)
"""A difference that is not worth a correction, and may come from the way to the store and back."""

_READ_TIME = {dialect: sql(f"SELECT {now} AS now") for dialect, now in NOW.items()}

log = logging.getLogger(__name__)


class StoreClock:
    """Keeps the clock of this process with its reference."""

    def __init__(
        self,
        database: Database,
        clock: SteadyClock,
        *,
        machine: Clock,
        elapsed: Callable[[], int] = boot_milliseconds,
    ) -> None:
        self._database = database
        self.machine = machine
        self._elapsed = elapsed
        self._followed_at = elapsed()
        self._ahead_since: int | None = None
        self._is_told_wrong = False
        self.clock = clock
        self.machine_offset = Millis(0)
        """How far the clock of the machine is ahead."""

    @classmethod
    async def open(
        cls, database: Database, *, machine: Clock | None = None, elapsed: Callable[[], int] = boot_milliseconds
    ) -> "StoreClock":
        machine = machine or SystemClock()
        now = machine.now() if database.dialect is Dialect.SQLITE else await _read_clock(database, elapsed)
        opened = cls(database, SteadyClock(now, elapsed), machine=machine, elapsed=elapsed)
        opened._tell_offset()
        return opened

    def make_service(self) -> BackgroundService:
        seconds = INTERVAL[self._database.dialect] / SECOND
        return BackgroundService(
            name=ServiceName.STORE_CLOCK, run_once=self.follow, interval=seconds, is_due_at_start=False
        )

    async def follow(self) -> None:
        """Compare the clock with its reference once, and correct it."""
        if self._database.dialect is Dialect.SQLITE:
            self._follow_machine()
        else:
            await self._follow_store()
        self._followed_at = self._elapsed()
        self._tell_offset()

    async def _follow_store(self) -> None:
        store_now = await _read_clock(self._database, self._elapsed)
        ahead = store_now - self.clock.now()
        if abs(ahead) > STEP:
            log.warning("Clock of the store was set", extra={"ms": ahead})
        if abs(ahead) > _DRIFT:
            self.clock.set(store_now)

    def _follow_machine(self) -> None:
        ahead = self.machine.now() - self.clock.now()
        if ahead <= STEP:
            self._ahead_since = None
        elif self._ahead_since is None:
            self._ahead_since = self._elapsed()
        if ahead > _DRIFT and (self._ahead_since is None or self._elapsed() - self._ahead_since >= LASTING):
            self.clock.set(self.machine.now())
            self._ahead_since = None
        elif ahead < -_DRIFT:
            self.clock.hold_back(min(-ahead, (self._elapsed() - self._followed_at) // 2))

    def _tell_offset(self) -> None:
        """Say in the log when the clock of the machine begins to be wrong, and when it is right again."""
        self.machine_offset = Millis(self.machine.now() - self.clock.now())
        is_wrong = abs(self.machine_offset) > STEP
        if is_wrong is self._is_told_wrong:
            return
        self._is_told_wrong = is_wrong
        message = "Clock of the machine is wrong" if is_wrong else "Clock of the machine is right again"
        log.warning(message, extra={"ms_ahead": self.machine_offset})


async def _read_clock(database: Database, elapsed: Callable[[], int]) -> Millis:
    """The time of the server, as of the middle of the way there and back."""
    before = elapsed()
    now = await database.read(read_time)
    return Millis(now + (elapsed() - before) // 2)


async def read_time(db: Connection) -> Millis:
    """The time by the clock of the database."""
    row = await db.fetch_one(_READ_TIME[db.dialect])
    if row is None:
        raise StoreUnavailable("The store does not tell the time")
    return Millis(row["now"])
