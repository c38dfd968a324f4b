"""Changing messages and withdrawing them: decided, stored and explained in one unit of work.

No provider is called here: the job that sent a message is queued once more, and changes it as it sent it, with the same
limits and as many attempts.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.ids import EnvironmentId, JobId, MessageId, id_text
from clarion.jobs.details import ExecutionDetail
from clarion.jobs.sends import queue_changes
from clarion.jobs.store import append_details
from clarion.jsontext import json_text
from clarion.messages import changes_store as store
from clarion.messages.changes import (
    CODES,
    REFUSED,
    ChangedMessage,
    ChangeState,
    ChangeVerdict,
    JobState,
    decide_change,
)
from clarion.providers.definition.changes import ChangeKind, Place
from clarion.providers.registry import find_provider
from clarion.runs.status import settle_run_statuses
from clarion.vocabulary import Channel

Columns = Mapping[str, Any]
"""New values of columns of a message, as they are stored."""
MakeColumns = Callable[[ChangedMessage], Columns]


class Changed(NamedTuple):
    """A message and what became of its change."""

    message: ChangedMessage
    verdict: ChangeVerdict


async def update_messages(
    db: Connection,
    environment_id: EnvironmentId,
    ids: Sequence[MessageId],
    make_columns: MakeColumns,
    *,
    by: Mapping[str, Any],
    now: Millis,
) -> list[Changed]:
    """Give messages new content; returns those that exist, with what becomes of each."""
    changed, jobs = await _decide(db, environment_id, ids, ChangeKind.UPDATE)
    for message, verdict in changed:
        if verdict.state is not REFUSED[ChangeKind.UPDATE]:
            await store.set_content(db, environment_id, message.id, make_columns(message))
    await _write(db, environment_id, changed, jobs, by=by, now=now)
    return changed


async def withdraw_messages(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[MessageId], *, by: Mapping[str, Any], now: Millis
) -> list[Changed]:
    """Take messages back; returns those that exist, with what becomes of each."""
    changed, jobs = await _decide(db, environment_id, ids, ChangeKind.WITHDRAW)
    await _write(db, environment_id, changed, jobs, by=by, now=now)
    hidden = [message.id for message, verdict in changed if verdict.state is ChangeState.WITHDRAWN]
    await store.hide(db, environment_id, hidden, now)
    return changed


def list_shown(changed: Sequence[Changed]) -> list[ChangedMessage]:
    """The messages whose change shows in an inbox."""
    return [
        message
        for message, verdict in changed
        if message.channel is Channel.IN_APP and verdict.state in (ChangeState.UPDATED, ChangeState.WITHDRAWN)
    ]


async def _decide(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[MessageId], kind: ChangeKind
) -> tuple[list[Changed], Mapping[JobId, JobState]]:
    messages, jobs = await store.lock_messages(db, environment_id, ids)
    decided = [Changed(one, decide_change(one, jobs.get(one.job_id), kind, _find_obstacle)) for one in messages]
    return decided, jobs


def _find_obstacle(provider_id: str, kind: ChangeKind, place: Place | None) -> str | None:
    provider = find_provider(provider_id)
    return "Its provider is not known" if provider is None else provider.find_change_obstacle(kind, place)


async def _write(
    db: Connection,
    environment_id: EnvironmentId,
    changed: Sequence[Changed],
    jobs: Mapping[JobId, JobState],
    *,
    by: Mapping[str, Any],
    now: Millis,
) -> None:
    # What was refused before is told once.
    news = [
        (message, verdict.state, verdict.reason)
        for message, verdict in changed
        if verdict.state is not None and (verdict.state is not message.change or verdict.reason is None)
    ]
    await store.note_changes(db, environment_id, [_change_row(*one) for one in news], now)
    details: dict[JobId, list[str]] = {}
    for message, state, reason in news:
        details.setdefault(message.job_id, []).append(json_text(_detail(message, state, reason, by, now)))
    await append_details(db, environment_id, dict(sorted(details.items())))
    queued = {message.job_id for message, verdict in changed if verdict.calls_provider}
    await queue_changes(db, environment_id, queued, now)
    await settle_run_statuses(db, environment_id, {jobs[one].notification_id for one in queued}, now)


def _change_row(message: ChangedMessage, state: ChangeState, reason: str | None) -> dict[str, Any]:
    return {
        "id": message.id,
        "change": state,
        "reason": reason,
        "former": _find_former(message, state),
        "revision": message.revision if state in REFUSED.values() else message.revision + 1,
    }


def _find_former(message: ChangedMessage, state: ChangeState) -> str | None:
    """What the provider has as long as it did not take the new content."""
    if message.change is ChangeState.UPDATING:
        return message.former
    if state is not ChangeState.UPDATING:
        return None
    return json_text({"content": message.content, "title": message.title, "data": message.data})


def _detail(
    message: ChangedMessage, state: ChangeState, reason: str | None, by: Mapping[str, Any], now: Millis
) -> ExecutionDetail:
    raw: dict[str, Any] = {"messageId": id_text(message.id), "channel": message.channel, **by}
    if reason is not None:
        raw["reason"] = reason
    return ExecutionDetail.of(CODES[state], now, provider_id=message.provider_id, raw=raw)
