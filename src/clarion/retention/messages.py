"""In-app messages, and messages of the outbox.

In-app messages may outlive their runs: what an inbox shows is in the message and its trigger. A message stays while it
is snoozed, counts as new when it comes back, and stays while a later step of its run may ask whether it was read.
"""

from collections.abc import Iterable, Sequence

from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.db.queue_plans import prefer_index_scans
from clarion.environments.options import DataKind
from clarion.ids import NotificationId
from clarion.messages.deletion import BY_RETENTION, note_deleted_by
from clarion.retention.runs import UNFINISHED, delete_unneeded
from clarion.retention.walks import Choose, Deleted, Walk, WalkPage, WalkScope, due_query, page_of
from clarion.vocabulary import Channel

# Compared in pairs, so that SQLite walks the index of channels and not the primary key.
_PAGE = """
    WHERE environment_id = :environment_id
    AND (channel, id) > (:channel, :after) AND (channel, id) <= (:channel, :oldest)
    ORDER BY channel, id LIMIT :limit
"""
LIST_OLD_IN_APP = sql(f"SELECT id, notification_id, snoozed_until, position FROM messages {_PAGE}")
LIST_OLD_OUTBOX = sql(f"SELECT id, notification_id, provider_id FROM messages {_PAGE}")
LIST_UNFINISHED = sql(f"""
    SELECT DISTINCT notification_id FROM jobs
    WHERE environment_id = :environment_id AND notification_id {{any:run_ids}} AND status IN {UNFINISHED}
""")
DELETE_IN_APP = sql("""
    DELETE FROM messages
    WHERE environment_id = :environment_id AND id {any:ids}
    AND snoozed_until IS NULL AND COALESCE(position, id) <= :oldest
    RETURNING trigger_id, job_id, subscriber_id, NOT read AND NOT archived AS is_unread
""")
DELETE_OUTBOX = sql("""
    DELETE FROM messages WHERE environment_id = :environment_id AND id {any:ids} RETURNING trigger_id
""")
_BUILT_IN = {Channel.EMAIL: "svc-email", Channel.SMS: "svc-sms"}


async def choose_in_app(db: Connection, scope: WalkScope, after: bytes, limit: int) -> WalkPage:
    oldest = scope.oldest_id(DataKind.IN_APP_MESSAGES)
    given = {"channel": Channel.IN_APP, "after": after, "oldest": oldest, "limit": limit}
    rows = await db.fetch(LIST_OLD_IN_APP, environment_id=scope.environment_id, **given)
    old = [row for row in rows if row["snoozed_until"] is None and (row["position"] or row["id"]) <= oldest]
    unfinished = await _list_unfinished(db, scope, (row["notification_id"] for row in old))
    unneeded = [row for row in old if row["notification_id"] not in unfinished]
    return page_of(rows, unneeded, limit, end=oldest)


async def delete_in_app(db: Connection, scope: WalkScope, rows: Sequence[Row]) -> Deleted:
    """Delete messages, unless one of them was snoozed in the meantime."""
    await prefer_index_scans(db)
    ids, oldest = [row["id"] for row in rows], scope.oldest_id(DataKind.IN_APP_MESSAGES)
    gone = await db.fetch(DELETE_IN_APP, environment_id=scope.environment_id, ids=ids, oldest=oldest)
    if gone:
        jobs = [row["job_id"] for row in gone]
        await note_deleted_by(db, scope.environment_id, jobs, BY_RETENTION, scope.now)
        await delete_unneeded(db, scope, [row["trigger_id"] for row in gone])
    return Deleted(len(gone), [row["subscriber_id"] for row in gone if row["is_unread"]])


def _choose_outbox(channel: Channel) -> Choose:
    async def choose(db: Connection, scope: WalkScope, after: bytes, limit: int) -> WalkPage:
        oldest = scope.oldest_id(DataKind.OUTBOX)
        given = {"channel": channel, "after": after, "oldest": oldest, "limit": limit}
        rows = await db.fetch(LIST_OLD_OUTBOX, environment_id=scope.environment_id, **given)
        own = [row for row in rows if row["provider_id"] == _BUILT_IN[channel]]
        unfinished = await _list_unfinished(db, scope, (row["notification_id"] for row in own))
        unneeded = [row for row in own if row["notification_id"] not in unfinished]
        return page_of(rows, unneeded, limit, end=oldest)

    return choose


async def delete_outbox(db: Connection, scope: WalkScope, rows: Sequence[Row]) -> Deleted:
    await prefer_index_scans(db)
    ids = [row["id"] for row in rows]
    gone = await db.fetch(DELETE_OUTBOX, environment_id=scope.environment_id, ids=ids)
    if gone:
        await delete_unneeded(db, scope, [row["trigger_id"] for row in gone])
    return Deleted(len(gone))


async def _list_unfinished(
    db: Connection, scope: WalkScope, run_ids: Iterable[NotificationId]
) -> frozenset[NotificationId]:
    wanted = list(dict.fromkeys(run_ids))
    if not wanted:
        return frozenset()
    rows = await db.fetch(LIST_UNFINISHED, environment_id=scope.environment_id, run_ids=wanted)
    return frozenset(row["notification_id"] for row in rows)


def _due(channel: Channel) -> str:
    return f"messages AS t WHERE t.channel = '{channel}'"


IN_APP = Walk(
    name="in-app messages",
    kind=DataKind.IN_APP_MESSAGES,
    horizon_of=(DataKind.IN_APP_MESSAGES,),
    choose=choose_in_app,
    delete=delete_in_app,
    due=due_query(_due(Channel.IN_APP)),
)
OUTBOX = tuple(
    Walk(
        name=f"outbox {channel}",
        kind=DataKind.OUTBOX,
        horizon_of=(DataKind.OUTBOX,),
        choose=_choose_outbox(channel),
        delete=delete_outbox,
        due=due_query(_due(channel)),
        # One that is needed when it becomes old goes with its run; the others of the channel need no second look.
        sweeps=False,
    )
    for channel in _BUILT_IN
)
