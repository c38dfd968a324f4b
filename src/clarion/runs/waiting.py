"""Counts of the runs of a workflow that are under way, by the step where they are."""

from msgspec import Struct

from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.runs.status import COMPLETED, STORED
from clarion.vocabulary import RunStatus
from clarion.workflows.model import Workflow, WorkflowVersion
from clarion.workflows.store import list_versions_by_id

MAX_WAITING = 10_000
"""Runs of the environment that are under way, among which those of a workflow are counted."""
LAST_UNDER_WAY = max(STORED[RunStatus.RUNNING], STORED[RunStatus.WAITING])
"""Runs under way have the first of the stored statuses; SQL says twice which, so that the index is used."""
UNDER_WAY = f"status <> {COMPLETED} AND status <= {LAST_UNDER_WAY}"

COUNT_WAITING = sql(f"""
    SELECT n.version_id, j.step, count(*) AS runs FROM (
        SELECT id, version_id, workflow_id FROM notifications
        WHERE environment_id = :environment_id AND {UNDER_WAY} ORDER BY status, id LIMIT :limit
    ) AS n
    JOIN jobs AS j ON j.environment_id = :environment_id AND j.notification_id = n.id
    WHERE n.workflow_id = :workflow_id AND j.queue IS NOT NULL
    GROUP BY n.version_id, j.step
""")
COUNT_UNDER_WAY = sql(f"""
    SELECT count(*) AS runs FROM (
        SELECT 1 FROM notifications WHERE environment_id = :environment_id AND {UNDER_WAY} LIMIT :limit
    ) AS n
""")


class RunsAtStep(Struct, frozen=True):
    """How many runs of a version are at one of its steps."""

    version: WorkflowVersion
    position: int
    count: int


class WaitingCounts(Struct, frozen=True):
    steps: list[RunsAtStep]
    is_complete: bool
    """Whether all runs of the environment were looked at."""


async def count_waiting(db: Connection, workflow: Workflow) -> WaitingCounts:
    """Count the runs of a workflow that are at a step, by version and step."""
    scope = {"environment_id": workflow.environment_id, "limit": MAX_WAITING}
    rows = await db.fetch(COUNT_WAITING, **scope, workflow_id=workflow.id)
    versions = await list_versions_by_id(db, workflow.environment_id, [row["version_id"] for row in rows])
    total = await db.fetch_one(COUNT_UNDER_WAY, **scope)
    steps = [RunsAtStep(versions[row["version_id"]], row["step"], row["runs"]) for row in rows]
    return WaitingCounts(steps, is_complete=total is not None and total["runs"] < MAX_WAITING)
