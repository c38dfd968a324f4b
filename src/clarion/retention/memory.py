"""What steps remember of earlier runs: closed digest windows and throttle passes.

Both are kept for as long as runs, and longer where a digest looks back further or a throttle counts for longer. They
are in no order of time, so each is looked at once a day.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clarion.clock import DAY, Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.environments.options import DataKind
from clarion.ids import SubscriberKey
from clarion.jobs.lanes import LaneSet, lane_of, try_lock_lanes
from clarion.retention.walks import LAST, Deleted, Walk, WalkPage, WalkScope, due_query, page_of
from clarion.times import MAX_AHEAD, Unit
from clarion.vocabulary import StepType
from clarion.workflows.controls import ControlsProblem, DigestControls, ThrottleControls, read_as
from clarion.workflows.model import Step, decode_steps

MAX_DYNAMIC_DAYS = 366
"""How long passes are kept where payloads say for how long a throttle counts."""
_DAYS = {Unit.SECONDS: 1, Unit.MINUTES: 1, Unit.HOURS: 1, Unit.DAYS: 2, Unit.WEEKS: 8, Unit.MONTHS: 32}
"""More than one of the unit can last, in whole days."""
_UNITS_A_DAY = {Unit.SECONDS: 86_400, Unit.MINUTES: 1440, Unit.HOURS: 24}
_IDS_A_PAGE = 100

LIST_REMEMBERING = sql("""
    SELECT steps FROM workflow_versions
    WHERE environment_id = :environment_id AND (steps LIKE '%"throttle"%' OR steps LIKE '%lookBackWindow%')
""")
LIST_WINDOWS = sql("""
    SELECT w.id, w.leader_id, w.last_event_at, s.key, (
        SELECT 1 FROM digest_events AS e WHERE e.environment_id = w.environment_id AND e.window_id = w.id
        ORDER BY e.generation LIMIT 1
    ) AS has_events
    FROM digest_windows AS w
    LEFT JOIN subscribers AS s ON s.environment_id = w.environment_id AND s.id = w.subscriber_id
    WHERE w.environment_id = :environment_id AND w.id > :after ORDER BY w.id LIMIT :limit
""")
DELETE_WINDOWS = sql("""
    DELETE FROM digest_windows
    WHERE environment_id = :environment_id AND id {any:ids} AND leader_id IS NULL AND last_event_at <= :horizon
""")
LIST_THROTTLES = sql("""
    WITH RECURSIVE throttles (id, place) AS (
        SELECT (
            SELECT throttle_id FROM throttle_passes
            WHERE environment_id = :environment_id AND throttle_id > :after ORDER BY throttle_id LIMIT 1
        ), 1
        UNION ALL
        SELECT (
            SELECT throttle_id FROM throttle_passes
            WHERE environment_id = :environment_id AND throttle_id > throttles.id ORDER BY throttle_id LIMIT 1
        ), place + 1 FROM throttles WHERE throttles.id IS NOT NULL AND place < :count
    )
    SELECT id FROM throttles WHERE id IS NOT NULL
""")
LIST_PASSES = sql("""
    SELECT throttle_id, passed_at, job_id FROM throttle_passes
    WHERE environment_id = :environment_id AND throttle_id {any:ids} AND passed_at <= :horizon
    ORDER BY throttle_id, passed_at LIMIT :limit
""")
DELETE_PASSES = sql("""
    DELETE FROM throttle_passes
    WHERE environment_id = :environment_id AND throttle_id {any:ids} AND passed_at <= :until AND job_id {any:job_ids}
""")


async def choose_windows(db: Connection, scope: WalkScope, after: bytes, limit: int) -> WalkPage:
    horizon = await _find_horizon(db, scope)
    rows = await db.fetch(LIST_WINDOWS, environment_id=scope.environment_id, after=after, limit=limit)
    return page_of(rows, [row for row in rows if _is_over(row, horizon)], limit, end=LAST)


def _is_over(window: Row, horizon: Millis) -> bool:
    # With events left, a window that is opened anew must continue their count.
    return window["leader_id"] is None and window["last_event_at"] <= horizon and not window["has_events"]


async def delete_windows(db: Connection, scope: WalkScope, rows: Sequence[Row]) -> Deleted:
    """Delete the windows of lanes that no worker holds at this moment: one may be opening a window again."""
    lanes = {row["id"]: lane_of(SubscriberKey(row["key"] or "")) for row in rows}
    locked = set(await try_lock_lanes(db, scope.environment_id, LaneSet.of(lanes.values())))
    ids = [one for one, lane in lanes.items() if lane in locked]
    if not ids:
        return Deleted(0)
    horizon = await _find_horizon(db, scope)
    return Deleted(await db.execute(DELETE_WINDOWS, environment_id=scope.environment_id, ids=ids, horizon=horizon))


async def choose_passes(db: Connection, scope: WalkScope, after: bytes, limit: int) -> WalkPage:
    """The old passes of the next throttles; if there are more than fit, the same throttles are next."""
    environment = {"environment_id": scope.environment_id}
    found = await db.fetch(LIST_THROTTLES, **environment, after=after, count=_IDS_A_PAGE)
    ids = [row["id"] for row in found]
    if not ids:
        return WalkPage(rows=[], last=LAST, is_last=True)
    horizon = await _find_horizon(db, scope)
    rows = await db.fetch(LIST_PASSES, **environment, ids=ids, horizon=horizon, limit=limit)
    if len(rows) == limit:
        return WalkPage(rows=rows, last=after, is_last=False)
    is_last = len(ids) < _IDS_A_PAGE
    return WalkPage(rows=rows, last=LAST if is_last else ids[-1], is_last=is_last)


async def delete_passes(db: Connection, scope: WalkScope, rows: Sequence[Row]) -> Deleted:
    deleted = await db.execute(
        DELETE_PASSES,
        environment_id=scope.environment_id,
        ids=list({row["throttle_id"] for row in rows}),
        until=max(row["passed_at"] for row in rows),
        job_ids=[row["job_id"] for row in rows],
    )
    return Deleted(deleted)


async def _find_horizon(db: Connection, scope: WalkScope) -> Millis:
    rows = await db.fetch(LIST_REMEMBERING, environment_id=scope.environment_id)
    steps = (step for row in rows for step in decode_steps(row["steps"]))
    days = max(scope.days[DataKind.RUNS], remembered_days(steps))
    return Millis(max(scope.now - days * DAY, 0))


def remembered_days(steps: Iterable[Step]) -> int:
    """For how long the steps may ask what was before, at most."""
    return max((_remembered_by(step) for step in steps), default=0)


def _remembered_by(step: Step) -> int:
    if step.type not in (StepType.THROTTLE, StepType.DIGEST):
        return 0
    return max(_remembered_with(step.type, one.controls) for one in (step, *step.variants))


def _remembered_with(kind: StepType, controls: Mapping[str, Any]) -> int:
    try:
        if kind is StepType.THROTTLE:
            throttle = read_as(ThrottleControls, controls)
            return MAX_DYNAMIC_DAYS if throttle.dynamic_key else _whole_days(throttle.amount, throttle.unit)
        window = read_as(DigestControls, controls).look_back_window
        return 0 if window is None else _whole_days(window.amount, window.unit)
    except ControlsProblem:
        # Such a step fails, and remembers nothing.
        return 0


def _whole_days(amount: float | None, unit: Unit | None) -> int:
    if amount is None or unit is None:
        return 0
    days = int(amount / _UNITS_A_DAY.get(unit, 1) + 1) * _DAYS[unit]
    return min(days, MAX_AHEAD // DAY)


WINDOWS = Walk(
    name="digest windows",
    kind=DataKind.RUNS,
    horizon_of=(DataKind.RUNS,),
    choose=choose_windows,
    delete=delete_windows,
    due=due_query("digest_windows AS t WHERE TRUE", until=""),
)
PASSES = Walk(
    name="throttle passes",
    kind=DataKind.RUNS,
    horizon_of=(DataKind.RUNS,),
    choose=choose_passes,
    delete=delete_passes,
    due=due_query("throttle_passes AS t WHERE TRUE", "throttle_id", until=""),
)
