"""Records and SQL of digest windows: one row per identity, and one for each full window that is not closed yet."""

from collections.abc import Sequence
from hashlib import blake2b

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import Insert, sql
from clarion.ids import EnvironmentId, JobId, NotificationId, SubscriberId, WorkflowId


class WindowIdentity(Struct, frozen=True, kw_only=True):
    """Runs with the same identity join the same window."""

    workflow_id: WorkflowId
    step_id: bytes
    subscriber_id: SubscriberId
    key_digest: bytes

    @property
    def window_id(self) -> bytes:
        """Derived from the identity, so that windows are found by their primary key."""
        parts = self.workflow_id + self.step_id + self.subscriber_id + self.key_digest
        return blake2b(parts, digest_size=16).digest()


class DigestWindow(Struct, frozen=True, kw_only=True):
    id: bytes
    subscriber_id: SubscriberId
    generation: int
    """How often it was opened."""
    leader_id: JobId | None
    """The job that goes on when the window closes; None while it is closed."""
    leader_run_id: NotificationId | None
    closes_at: Millis | None
    closes_by: Millis | None = None
    """Until when further events may extend it; None if they do not."""
    items: int | None = None
    """At least so many events are in it as count; None if they are not counted."""
    last_event_at: Millis


_COLUMNS = """
    id, subscriber_id, generation, leader_id, leader_run_id, closes_at, closes_by, items, last_event_at
"""

LIST_WINDOWS = sql(f"""
    SELECT {_COLUMNS} FROM digest_windows WHERE environment_id = :environment_id AND id {{any:ids}}
""")
WINDOWS = Insert(
    "digest_windows",
    *("environment_id", "id", "subscriber_id", "generation", "leader_id", "leader_run_id", "closes_at"),
    *("closes_by", "items", "last_event_at"),
)
UPDATE_WINDOWS = sql("""
    UPDATE digest_windows
    SET generation = :generation, leader_id = :leader_id, leader_run_id = :leader_run_id, closes_at = :closes_at,
        closes_by = :closes_by, items = :items, last_event_at = :last_event_at
    {each: environment_id uuid, id uuid, generation integer, leader_id uuid, leader_run_id uuid, closes_at bigint,
        closes_by bigint, items integer, last_event_at bigint}
    WHERE environment_id = :environment_id AND id = :id
""")


async def list_windows(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[bytes]
) -> dict[bytes, DigestWindow]:
    rows = await db.fetch(LIST_WINDOWS, environment_id=environment_id, ids=ids) if ids else []
    return {row["id"]: DigestWindow(**row) for row in rows}


async def insert_windows(db: Connection, environment_id: EnvironmentId, windows: Sequence[DigestWindow]) -> None:
    if windows:
        await db.insert_many(WINDOWS, [_row(environment_id, one) for one in windows])


async def update_windows(db: Connection, environment_id: EnvironmentId, windows: Sequence[DigestWindow]) -> None:
    rows = [
        {
            "environment_id": environment_id,
            "id": window.id,
            "generation": window.generation,
            "leader_id": window.leader_id,
            "leader_run_id": window.leader_run_id,
            "closes_at": window.closes_at,
            "closes_by": window.closes_by,
            "items": window.items,
            "last_event_at": window.last_event_at,
        }
        for window in windows
    ]
    if rows:
        await db.execute_many(UPDATE_WINDOWS, rows)


def close_window(window: DigestWindow) -> DigestWindow:
    """The window as it is stored between its openings."""
    return replace(window, leader_id=None, leader_run_id=None, closes_at=None, closes_by=None, items=None)


def _row(environment_id: EnvironmentId, window: DigestWindow) -> tuple[object, ...]:
    return (
        *(environment_id, window.id, window.subscriber_id, window.generation, window.leader_id),
        *(window.leader_run_id, window.closes_at, window.closes_by, window.items, window.last_event_at),
    )
