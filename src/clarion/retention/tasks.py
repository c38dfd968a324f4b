"""What there is to do: all walks in the order of their turns, and which have old rows in which environments."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.queue_plans import prefer_index_scans
from clarion.environments.options import EnvironmentOptions
from clarion.environments.store import list_environments
from clarion.ids import EnvironmentId
from clarion.retention import layouts, memory, messages, records, runs, versions
from clarion.retention.periods import days_of
from clarion.retention.walks import ALL_ENVIRONMENTS, FIRST, Walk, WalkPage, WalkProgress, WalkScope, list_due
from clarion.settings.model import Settings

WALKS: tuple[Walk, ...] = (
    runs.RUNS,
    runs.TRIGGERS,
    messages.IN_APP,
    *messages.OUTBOX,
    *records.WEBHOOKS,
    records.AUDIT,
    *records.COUNTS,
    records.RESPONSES,
    records.RECEIPTS,
    versions.WALK,
    versions.MOVED_WALK,
    layouts.WALK,
    memory.WINDOWS,
    memory.PASSES,
)
_ASKED_TOGETHER = 500


class Task(Struct):
    """A walk in one environment, and how far it has come."""

    walk: Walk
    scope: WalkScope
    progress: WalkProgress
    pages: int = 0
    """Read since its position was stored."""


async def list_scopes(db: Connection, settings: Settings, now: Millis) -> list[WalkScope]:
    """The scope of every environment, and that of all together."""
    environments = await list_environments(db)
    days = {one.id: days_of(one.options, settings) for one in environments}
    default = days_of(EnvironmentOptions(), settings)
    return [
        WalkScope(environment_id=one, now=now, days=days.get(one, default), by_environment=days)
        for one in (ALL_ENVIRONMENTS, *days)
    ]


async def list_tasks(db: Connection, settings: Settings, now: Millis) -> list[Task]:
    """The walks that have rows to look at, each from where it stopped."""
    await prefer_index_scans(db)
    scopes = await list_scopes(db, settings, now)
    return [task for walk in WALKS for chunk in _chunks(walk, scopes) for task in await _list_due(db, walk, chunk)]


def list_all_tasks(scopes: Sequence[WalkScope], now: Millis) -> list[Task]:
    """All walks in all environments, each from its beginning."""
    return [Task(walk, scope, WalkProgress(FIRST, now)) for walk in WALKS for scope in _scopes_of(walk, scopes)]


async def choose_page(db: Connection, task: Task) -> WalkPage:
    """Read the next page of a task."""
    await prefer_index_scans(db)
    walk = task.walk
    return await walk.choose(db, task.scope, task.progress.position, walk.page_size)


def _scopes_of(walk: Walk, scopes: Sequence[WalkScope]) -> list[WalkScope]:
    return [one for one in scopes if (one.environment_id == ALL_ENVIRONMENTS) == (walk.due is None)]


def _chunks(walk: Walk, scopes: Sequence[WalkScope]) -> Iterator[Sequence[WalkScope]]:
    """Environments that keep the rows for the same time, because they are asked for together."""
    by_oldest: dict[bytes, list[WalkScope]] = {}
    for scope in _scopes_of(walk, scopes):
        by_oldest.setdefault(scope.oldest_id(*walk.horizon_of), []).append(scope)
    for group in by_oldest.values():
        for start in range(0, len(group), _ASKED_TOGETHER):
            yield group[start : start + _ASKED_TOGETHER]


async def _list_due(db: Connection, walk: Walk, scopes: Sequence[WalkScope]) -> list[Task]:
    by_id: dict[EnvironmentId, WalkScope] = {scope.environment_id: scope for scope in scopes}
    oldest, now = scopes[0].oldest_id(*walk.horizon_of), scopes[0].now
    due = await list_due(db, walk, list(by_id), now=now, oldest=oldest)
    return [Task(walk, by_id[one], progress) for one, progress in due.items()]
