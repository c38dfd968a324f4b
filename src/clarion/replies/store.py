"""SQL of replies: what a mail replies to."""

from msgspec import Struct

from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, JobId, MessageId, SubscriberId, WorkflowId

FIND_ORIGINAL = sql("""
    SELECT id, job_id, workflow_id, step_id, subscriber_id FROM messages
    WHERE environment_id = :environment_id AND id = :id AND channel = 'email'
""")


class Original(Struct, frozen=True, kw_only=True):
    """The message that a mail replies to."""

    id: MessageId
    job_id: JobId
    workflow_id: WorkflowId
    step_id: bytes
    subscriber_id: SubscriberId


async def find_original(db: Connection, environment_id: EnvironmentId, message_id: MessageId) -> Original | None:
    row = await db.fetch_one(FIND_ORIGINAL, environment_id=environment_id, id=message_id)
    return None if row is None else Original(**dict(row))
