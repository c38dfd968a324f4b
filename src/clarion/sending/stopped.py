"""Claimed jobs whose trigger was canceled or has expired are canceled, unless they carry events of other triggers."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.engine.load import load_runs
from clarion.engine.records import Run
from clarion.ids import EnvironmentId, NotificationId
from clarion.jobs import store as jobs
from clarion.jobs.details import canceled_detail, expired_detail
from clarion.runs.status import settle_run_statuses


class Stoppable(Protocol):
    """A claimed job."""

    run: Run | None
    is_canceled: bool
    expires_at: Millis | None

    @property
    def notification_id(self) -> NotificationId: ...

    @property
    def has_changes(self) -> bool: ...

    def is_expired(self, now: Millis) -> bool: ...


StoppableT = TypeVar("StoppableT", bound=Stoppable)


async def add_runs(db: Connection, environment_id: EnvironmentId, claimed: Sequence[Stoppable]) -> None:
    """Load the runs of claimed jobs."""
    runs = {run.id: run for run in await load_runs(db, environment_id, [one.notification_id for one in claimed])}
    for one in claimed:
        one.run = runs.get(one.notification_id)


async def drop_stopped(
    db: Connection, environment_id: EnvironmentId, claimed: Sequence[StoppableT], now: Millis
) -> list[StoppableT]:
    """Cancel those whose trigger was canceled or has expired, and return the others; what was sent before is changed
    all the same."""
    stopped = [one for one in claimed if (one.is_canceled or one.is_expired(now)) and not one.has_changes]
    dropped = [one for one in stopped if one.run is None or not one.run.carries_others]
    canceled = [one.notification_id for one in dropped if one.is_canceled]
    await jobs.cancel(db, environment_id, canceled, canceled_detail(now), now)
    expired: dict[Millis | None, list[NotificationId]] = {}
    for job in dropped:
        if not job.is_canceled:
            expired.setdefault(job.expires_at, []).append(job.notification_id)
    for expires_at, run_ids in expired.items():
        await jobs.cancel(db, environment_id, run_ids, expired_detail(expires_at, now), now)
    await settle_run_statuses(db, environment_id, [one.notification_id for one in dropped], now)
    return [one for one in claimed if one not in dropped]
