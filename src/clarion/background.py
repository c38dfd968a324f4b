"""Background work of a process: named services that one supervisor runs, whatever fails in them.

A service does what there is to do, and waits for its interval or for a wake-up. If it fails, the supervisor logs and
counts that, and runs it again after a pause which doubles up to a limit. A store that cannot be used now is no failure:
the service is postponed. Only the errors that a service names in `ends_process` end the process.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from enum import StrEnum

from msgspec import Struct, field

from clarion.clock import SECOND, Millis
from clarion.errors import StoreUnavailable

PAUSE_SECONDS = 1.0
"""How long to wait at least before work that failed is tried again."""
MAX_BACKOFF_SECONDS = 5.0
"""The longest pause after failures in a row, of a service without a longer interval."""
IDLE_SECONDS = 0.5
"""How often queues are looked at although nobody announces work."""
FAILING_AFTER = 3
"""Failures in a row after which a service counts as failing."""

LOOK_SECONDS = 5.0
"""How often to look for what is due at a moment at least: the signal of another process may be lost."""
_LOCKED_SECONDS = 0.1

log = logging.getLogger(__name__)


class ServiceName(StrEnum):
    """Every service; a process runs those of its kind."""

    LANES = "lanes"
    """Expands triggers and runs steps."""
    SENDS = "sends"
    LEASES = "leases"
    """Renews the leases of sends that are in flight."""
    WEBHOOKS = "webhooks"
    MEMBERSHIP = "membership"
    """Divides the lanes among the workers that are alive."""
    WORK_ANNOUNCEMENTS = "work_announcements"
    """Wakes the workers of other processes."""
    SNOOZES = "snoozes"
    DUE_TRIGGERS = "due_triggers"
    """Begins triggers at their moment."""
    RETENTION = "retention"
    ENVIRONMENT_DELETION = "environment_deletion"
    ERASURES = "erasures"
    """Goes on with the erasure of people's data."""
    EARLY_RECEIPTS = "early_receipts"
    """Records delivery reports that came before the send was recorded."""
    RECEIPT_POLLING = "receipt_polling"
    TRACKING = "tracking"
    """Records opens and clicks of e-mails."""
    KEY_USE = "key_use"
    """Records when API keys and sessions of members were used last."""
    TEAM_MAIL = "team_mail"
    STATISTICS = "statistics"
    STORE_CLOCK = "store_clock"
    STORE_NOTIFICATIONS = "store_notifications"
    """Listens on PostgreSQL for what other processes notify."""
    STORE_PULSE = "store_pulse"
    """Finds out whether PostgreSQL is slow or gone."""
    SCHEMA_WATCH = "schema_watch"
    HEARTBEAT = "heartbeat"
    HEALTH_FILE = "health_file"
    CONNECTION_SWEEP = "connection_sweep"
    SOCKET_SWEEP = "socket_sweep"
    SOCKET_PUSHES = "socket_pushes"
    SESSION_CHECKS = "session_checks"
    PRESENCE = "presence"
    SOCKET_HOSTS = "socket_hosts"
    """Which processes serve sockets, and of which environments."""
    INBOX_BRIDGE = "inbox_bridge"
    """Connects to the other processes."""
    INBOX_ANNOUNCEMENTS = "inbox_announcements"
    """Tells other processes of changes in inboxes."""
    EVENTS = "events"
    """Offers events to the steps that wait for them."""
    SCHEDULES = "schedules"
    """Triggers workflows at the moments of schedules."""


class BackgroundService(Struct, frozen=True, kw_only=True):
    """Work that is done again and again until the process ends; without an interval and a wake-up, once."""

    name: ServiceName
    run_once: Callable[[], Awaitable[bool | None]]
    """Does what there is to do. If it returns True there may be more, and it is called again at once."""
    interval: float | Callable[[], float] | None = None
    """How many seconds to wait at most for the next call; None: until it is woken."""
    wake_up: asyncio.Event = field(default_factory=asyncio.Event)
    """Ends the wait; cleared before each call."""
    settle_seconds: float = 0.0
    """The shortest wait: wake-ups that come meanwhile cause one call."""
    is_due_at_start: bool = True
    """Else it waits before the first call."""
    finish: Callable[[], Awaitable[None]] | None = None
    """Called when the process ends."""
    ends_last: bool = False
    """Whether it runs on until all others have finished, because they need it to the end."""
    ends_process: tuple[type[Exception], ...] = ()
    """Errors after which the process must not go on."""

    @property
    def seconds(self) -> float | None:
        return self.interval() if callable(self.interval) else self.interval


class ServiceState:
    """What a service has been through since the start."""

    __slots__ = ("failures", "failures_in_a_row", "restarts")

    def __init__(self) -> None:
        self.failures = 0
        self.failures_in_a_row = 0
        self.restarts = 0

    @property
    def is_failing(self) -> bool:
        return self.failures_in_a_row >= FAILING_AFTER


def pause_until(next_at: Millis | None, now: Millis) -> float:
    """How many seconds to sleep at most until something is due; None: as far as is known, nothing."""
    if next_at is None:
        return LOOK_SECONDS
    seconds = (next_at - now) / SECOND
    # What is due but was skipped is locked for a moment.
    return min(LOOK_SECONDS, seconds if seconds > 0 else _LOCKED_SECONDS)


class Supervisor:
    """Runs the services of a process, and knows how they are."""

    def __init__(self, *, pause_seconds: float = PAUSE_SECONDS) -> None:
        self.pause_seconds = pause_seconds
        self.states: dict[ServiceName, ServiceState] = {}

    def add_states(self, *names: ServiceName) -> None:
        """Know services before they start."""
        self.states |= {name: ServiceState() for name in names}

    def show_also(self, other: "Supervisor") -> None:
        """Show how the services are that another supervisor runs in this process."""
        self.states |= other.states

    def list_failing(self) -> list[ServiceName]:
        """The services that have failed several times in a row."""
        return [name for name, state in self.states.items() if state.is_failing]

    async def run(self, services: Iterable[BackgroundService]) -> None:
        """Run services until cancelled, then let them finish; raises an error that is to end the process."""
        first: list[asyncio.Task[None]] = []
        last: list[asyncio.Task[None]] = []
        for service in services:
            task = asyncio.create_task(self._supervise(service), name=service.name)
            (last if service.ends_last else first).append(task)
        try:
            # They end only with an error.
            await asyncio.gather(*map(asyncio.shield, [*first, *last]))
        finally:
            await _end(first)
            await _end(last)

    async def _supervise(self, service: BackgroundService) -> None:
        state = self.states.setdefault(service.name, ServiceState())
        try:
            if not service.is_due_at_start:
                await _wait(service)
            await self._repeat(service, state)
        finally:
            await _finish(service)

    async def _repeat(self, service: BackgroundService, state: ServiceState) -> None:
        while True:
            service.wake_up.clear()
            try:
                has_more = await service.run_once()
            except service.ends_process:
                raise
            except StoreUnavailable as error:
                log.warning("Background work postponed", extra={"service": service.name, "error": str(error)})
                await asyncio.sleep(max(self.pause_seconds, service.seconds or 0))
            except Exception:
                state.failures += 1
                state.failures_in_a_row += 1
                log.exception("Background work failed", extra={"service": service.name})
                await asyncio.sleep(self._choose_backoff(service, state))
                state.restarts += 1
            else:
                state.failures_in_a_row = 0
                if not has_more:
                    await _wait(service)

    def _choose_backoff(self, service: BackgroundService, state: ServiceState) -> float:
        doubled: float = self.pause_seconds * 2 ** min(state.failures_in_a_row - 1, 10)
        return max(min(doubled, MAX_BACKOFF_SECONDS), service.seconds or 0)


async def _end(tasks: Sequence["asyncio.Task[None]"]) -> None:
    """Cancel tasks and wait until they have ended; another cancellation does not cut short what they finish."""
    for task in tasks:
        task.cancel()
    while not all(task.done() for task in tasks):
        with suppress(asyncio.CancelledError):
            await asyncio.wait(tasks)


async def _wait(service: BackgroundService) -> None:
    seconds = service.seconds
    settling = service.settle_seconds if seconds is None else min(service.settle_seconds, seconds)
    if settling:
        await asyncio.sleep(settling)
    # Not `wait_for`: in Python 3.11 it swallows a cancellation that comes together with the wake-up.
    with suppress(TimeoutError):
        async with asyncio.timeout(None if seconds is None else seconds - settling):
            await service.wake_up.wait()


async def _finish(service: BackgroundService) -> None:
    if service.finish is None:
        return
    try:
        await service.finish()
    except StoreUnavailable as error:
        log.warning("Background work not finished", extra={"service": service.name, "error": str(error)})
    except Exception:
        log.exception("Background work not finished", extra={"service": service.name})
