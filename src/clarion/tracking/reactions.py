"""SQL of how many e-mails were opened, clicked and replied to: for each workflow, one row for each hour."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, WorkflowId, first_id, id_millis
from clarion.integrations.counts import OWN_SLOT, start_of_hour
from clarion.tracking.model import Tracking

ADD_REACTIONS = sql("""
    INSERT INTO mail_reactions (environment_id, id, workflow_id, slot, opened, clicked, replied)
    VALUES (:environment_id, :hour, :workflow_id, :slot, :opened, :clicked, :replied)
    ON CONFLICT (environment_id, id, workflow_id, slot) DO UPDATE
    SET opened = mail_reactions.opened + excluded.opened, clicked = mail_reactions.clicked + excluded.clicked,
        replied = mail_reactions.replied + excluded.replied
""")
LIST_REACTIONS = sql("""
    SELECT id, workflow_id, opened, clicked, replied FROM mail_reactions
    WHERE environment_id = :environment_id AND id >= :first AND id < :last ORDER BY id
""")


class ReactionCount(Struct, kw_only=True):
    """How many e-mails were opened, clicked and replied to for the first time."""

    opened: int = 0
    clicked: int = 0
    replied: int = 0

    def add(self, other: "ReactionCount") -> None:
        self.opened += other.opened
        self.clicked += other.clicked
        self.replied += other.replied


class HourReactions(Struct, frozen=True, kw_only=True):
    """The reactions to e-mails of one workflow in one hour, or in a part of it."""

    hour: Millis
    workflow_id: WorkflowId
    count: ReactionCount


def count_first(before: Tracking | None, after: Tracking | None) -> ReactionCount:
    """Count what happened for the first time between two states of an e-mail."""
    before, after = before or Tracking(), after or Tracking()
    return ReactionCount(
        opened=int(before.first_opened_at is None and after.first_opened_at is not None),
        clicked=int(before.first_clicked_at is None and after.first_clicked_at is not None),
    )


async def add_reactions(
    db: Connection, environment_id: EnvironmentId, counts: Mapping[WorkflowId, ReactionCount], now: Millis
) -> None:
    """Add to the counts of this hour; last in a transaction, because others wait for the rows until it ends."""
    # Sorted, so that two transactions cannot deadlock.
    rows = [
        {
            "environment_id": environment_id,
            "hour": first_id(start_of_hour(now)),
            "workflow_id": workflow_id,
            "slot": OWN_SLOT,
            "opened": count.opened,
            "clicked": count.clicked,
            "replied": count.replied,
        }
        for workflow_id, count in sorted(counts.items(), key=lambda pair: pair[0])
        if count != ReactionCount()
    ]
    if rows:
        await db.execute_many(ADD_REACTIONS, rows)


async def list_reactions(
    db: Connection, environment_id: EnvironmentId, *, after: Millis, before: Millis
) -> Sequence[HourReactions]:
    """List the counts of all hours that begin in this time, in their order; one hour may have several."""
    rows = await db.fetch(
        LIST_REACTIONS, environment_id=environment_id, first=first_id(start_of_hour(after)), last=first_id(before)
    )
    return [
        HourReactions(
            hour=id_millis(row["id"]),
            workflow_id=row["workflow_id"],
            count=ReactionCount(opened=row["opened"], clicked=row["clicked"], replied=row["replied"]),
        )
        for row in rows
    ]
