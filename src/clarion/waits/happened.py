"""What became of the messages of a run before one of its steps asks: events longer ago than events are kept."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.ids import EmittedEventId, EnvironmentId, MessageId, find_id
from clarion.jobs.model import Job
from clarion.jsontext import json_value
from clarion.providers.definition.receipts import ReceiptKind
from clarion.vocabulary import Channel, MessageStatus, StepType
from clarion.waits.message_events import describe_message
from clarion.waits.model import EmittedEvent, MessageEventName
from clarion.workflows.model import Step

_COLUMNS = """
    id, notification_id, job_id, step_id, channel, provider_id, status, seen, read, seen_at, read_at, delivery,
    created_at, updated_at
"""

LIST_SENT = sql(f"""
    SELECT {_COLUMNS} FROM messages
    WHERE environment_id = :environment_id AND job_id {{any:job_ids}} AND channel <> 'in_app' ORDER BY id
""")
LIST_IN_APP = sql(f"""
    SELECT {_COLUMNS} FROM messages WHERE environment_id = :environment_id AND id {{any:ids}} ORDER BY id
""")

_KINDS: Final = {
    MessageEventName.OPENED: (ReceiptKind.OPENED, ReceiptKind.CLICKED),
    MessageEventName.CLICKED: (ReceiptKind.CLICKED,),
    MessageEventName.DELIVERED: (ReceiptKind.DELIVERED,),
    MessageEventName.FAILED: (ReceiptKind.BOUNCED, ReceiptKind.FAILED),
}


async def list_past_states(
    db: Connection,
    environment_id: EnvironmentId,
    jobs: Sequence[Job],
    step_of: Callable[[Job], Step],
    event: str,
) -> list[EmittedEvent]:
    """What a step waits for of the messages of its run, as far as it has happened already."""
    asked = [job for job in jobs if step_of(job).channel is not None and not job.is_new]
    sent = [job.id for job in asked if step_of(job).type is not StepType.IN_APP]
    own = [found for job in asked if (found := _find_message_id(job)) is not None]
    rows: list[Row] = []
    if sent:
        rows += await db.fetch(LIST_SENT, environment_id=environment_id, job_ids=sent)
    if own:
        rows += await db.fetch(LIST_IN_APP, environment_id=environment_id, ids=own)
    name = MessageEventName(event)
    return [_make_event(environment_id, name, row, at) for row in rows for at in _list_moments(name, row)]


def _find_message_id(job: Job) -> MessageId | None:
    found = find_id(str((job.outputs or {}).get("messageId")))
    return None if found is None else MessageId(found)


def _list_moments(name: MessageEventName, row: Row) -> Iterator[Millis]:
    """Yield when the message was seen, opened or whatever the name asks for; nothing if it was not."""
    if name is MessageEventName.SEEN and row["seen"]:
        yield Millis(row["seen_at"] or row["updated_at"])
    elif name is MessageEventName.READ and row["read"]:
        yield Millis(row["read_at"] or row["updated_at"])
    elif name is MessageEventName.FAILED and row["status"] == MessageStatus.WARNING:
        yield Millis(row["updated_at"])
    elif name in _KINDS and row["channel"] != Channel.IN_APP:
        yield from _list_receipts(_KINDS[name], row)


def _list_receipts(kinds: Iterable[ReceiptKind], row: Row) -> Iterator[Millis]:
    delivery = json_value(row["delivery"]) or {}
    moments = [delivery[kind] for kind in kinds if kind in delivery]
    if moments:
        yield Millis(min(moments))


def _make_event(environment_id: EnvironmentId, name: MessageEventName, row: Row, at: Millis) -> EmittedEvent:
    return EmittedEvent(
        environment_id=environment_id,
        id=EmittedEventId(row["id"]),
        name=name,
        created_at=at,
        data=describe_message(row),
    )
