"""Messages of earlier steps that steps change or withdraw.

The jobs and messages in question are locked together when the unit of work begins, in the order in which recording a
send locks them. What a run has made in this very unit is not stored yet, and is changed in memory.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.engine.records import NewMessage, Run
from clarion.ids import EnvironmentId, JobId, MessageId, SubscriberId, find_id
from clarion.jobs.model import FINISHED, Job
from clarion.jsontext import json_value
from clarion.messages.changes import ChangedMessage, ChangeState, ChangeVerdict
from clarion.messages.changes_store import lock_messages
from clarion.messages.changing import Changed, list_shown, update_messages, withdraw_messages
from clarion.messages.content import NewContent, make_columns
from clarion.vocabulary import StepType
from clarion.workflows.model import Step

_CHANGING = frozenset({StepType.UPDATE, StepType.CLEAR})

LIST_SENT = sql("""
    SELECT id, job_id FROM messages
    WHERE environment_id = :environment_id AND job_id {any:job_ids} AND channel <> 'in_app' ORDER BY id
""")


class MessageChanges:
    """What the steps of one unit of work change; the caller holds the lanes of the people."""

    def __init__(self, db: Connection, environment_id: EnvironmentId, now: Millis) -> None:
        self._db = db
        self._environment_id = environment_id
        self._now = now
        self._stored: dict[JobId, list[MessageId]] = {}
        self.shown: list[tuple[SubscriberId, MessageId]] = []
        """What is different in inboxes when the unit is committed."""
        self.calls_providers = False
        """Whether jobs were queued to ask providers."""

    async def load(self, runs: Sequence[Run]) -> None:
        """Lock what steps of these runs may change."""
        targets = [(run, job) for run in runs for job in _list_targets(run)]
        for run, job in targets:
            own = find_id(str((job.outputs or {}).get("messageId")))
            if run.step_of(job).type is StepType.IN_APP and own is not None:
                self._stored[job.id] = [MessageId(own)]
        sent = [job.id for run, job in targets if run.step_of(job).type is not StepType.IN_APP]
        rows = await self._db.fetch(LIST_SENT, environment_id=self._environment_id, job_ids=sent) if sent else ()
        for row in rows:
            self._stored.setdefault(row["job_id"], []).append(row["id"])
        ids = [message_id for some in self._stored.values() for message_id in some]
        if ids:
            await lock_messages(self._db, self._environment_id, ids)

    async def update(self, run: Run, step: Step, job: Job, content: NewContent) -> list[Changed]:
        """Give the messages of an earlier job new content."""
        new = [one for one in run.messages if one.job_id == job.id]
        for message in new:
            _set_content(message, make_columns(_describe(run, message), content))
        changed = await update_messages(
            *self._stored_of(job), lambda one: make_columns(one, content), by=_by(step), now=self._now
        )
        return [*_list_done(run, new, ChangeState.UPDATED), *self._note(changed)]

    async def withdraw(self, run: Run, step: Step, job: Job) -> list[Changed]:
        """Take the messages of an earlier job back."""
        new = [one for one in run.messages if one.job_id == job.id]
        run.messages = [one for one in run.messages if one.job_id != job.id]
        changed = await withdraw_messages(*self._stored_of(job), by=_by(step), now=self._now)
        return [*_list_done(run, new, ChangeState.WITHDRAWN), *self._note(changed)]

    def _stored_of(self, job: Job) -> tuple[Connection, EnvironmentId, list[MessageId]]:
        return self._db, self._environment_id, self._stored.get(job.id, [])

    def _note(self, changed: Sequence[Changed]) -> Sequence[Changed]:
        self.shown += [(one.subscriber_id, one.id) for one in list_shown(changed)]
        self.calls_providers |= any(one.verdict.calls_provider for one in changed)
        return changed


def _list_targets(run: Run) -> Iterator[Job]:
    """The stored jobs whose messages a step of the run may change that is not done yet."""
    if run.is_new or run.version.step_types.isdisjoint(_CHANGING):
        return
    done = {job.step for job in run.jobs if job.status in FINISHED}
    steps = enumerate(run.version.steps)
    names = {step.controls.get("ofStep") for place, step in steps if step.type in _CHANGING and place not in done}
    yield from (job for job in run.jobs if not job.is_new and run.step_of(job).step_id in names)


def _by(step: Step) -> dict[str, Any]:
    return {"step": step.step_id}


def _list_done(run: Run, messages: Iterable[NewMessage], state: ChangeState) -> list[Changed]:
    return [Changed(_describe(run, message), ChangeVerdict(state=state)) for message in messages]


def _describe(run: Run, message: NewMessage) -> ChangedMessage:
    return ChangedMessage(
        id=message.id,
        job_id=message.job_id,
        subscriber_id=run.subscriber.id,
        channel=message.channel,
        provider_id=message.provider_id,
        is_sent=False,
        content=message.content,
        title=message.title,
        data=message.data,
        cta=message.cta,
        change=None,
        former=None,
        place=None,
        revision=0,
    )


_READ: dict[str, Callable[[Any], Any]] = {"data": json_value, "cta": json_value}


def _set_content(message: NewMessage, columns: dict[str, Any]) -> None:
    for name, value in columns.items():
        setattr(message, name, _READ[name](value) if name in _READ else value)
