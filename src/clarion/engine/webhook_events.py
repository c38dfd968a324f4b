"""Events about the messages of a unit of work, for the webhook endpoints that listen to them."""

from collections.abc import Sequence

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.engine.records import Run
from clarion.ids import EnvironmentId
from clarion.sending.model import ClaimedSend
from clarion.vocabulary import Channel, JobStatus, MessageStatus
from clarion.webhooks.events import append_message_events, get_listeners
from clarion.webhooks.model import EventType


async def emit_run_events(
    db: Connection, environment_id: EnvironmentId, runs: Sequence[Run], version: int, now: Millis
) -> None:
    """Write events about messages that are in the inbox now, and about those that have no address to go to.

    `version` is that of the environment's configuration.
    """
    listeners = await get_listeners(db, environment_id, version)
    if not listeners:
        return
    events = [
        (EventType.MESSAGE_SENT if message.channel is Channel.IN_APP else EventType.MESSAGE_FAILED, message.id)
        for run in runs
        for message in run.messages
        if message.channel is Channel.IN_APP or message.status is MessageStatus.WARNING
    ]
    await append_message_events(db, environment_id, events, now, listeners=listeners)


async def emit_send_events(
    db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend], version: int, now: Millis
) -> None:
    """Write events about messages that a provider accepted, and about those that are not tried again.

    `version` is that of the environment's configuration.
    """
    listeners = await get_listeners(db, environment_id, version)
    if not listeners:
        return
    events = [
        (EventType.MESSAGE_SENT if outcome.status is MessageStatus.SENT else EventType.MESSAGE_FAILED, message_id)
        for send in sends
        for message_id, outcome in send.outcomes.items()
        if outcome.status is MessageStatus.SENT
        or send.is_given_up(message_id)
        or send.job.status is not JobStatus.QUEUED
    ]
    await append_message_events(db, environment_id, events, now, listeners=listeners)
