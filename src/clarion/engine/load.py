"""Loading what a unit of work needs, in one query for each kind of thing."""

from collections.abc import Iterable, Sequence
from typing import Any

from clarion.clock import Millis, iso_text
from clarion.contexts.actions import with_stored_data
from clarion.contexts.model import keys_of, stored_keys
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.engine.recipients import Recipient
from clarion.engine.records import Run
from clarion.ids import EnvironmentId, JobId, NotificationId, find_id, new_id
from clarion.jobs.details import DetailCode
from clarion.jobs.lanes import lane_of
from clarion.jobs.model import Job, Priority
from clarion.jobs.store import SHARED_OUTPUTS, add_payloads, list_jobs_of_runs
from clarion.jsontext import json_value
from clarion.preferences.model import subscriber_layers
from clarion.preferences.store import list_preferences_of_people
from clarion.providers.definition.receipts import ReceiptKind
from clarion.subscribers.addresses.targets import list_places
from clarion.subscribers.channels import list_channels
from clarion.subscribers.store import list_subscribers_by_id, list_subscribers_by_key
from clarion.triggers.store import list_triggers_by_id
from clarion.vocabulary import Channel, JobStatus, StepType
from clarion.workflows.model import StepPlace, WorkflowVersion
from clarion.workflows.store import list_versions_by_id, list_workflows_by_id
from clarion.workflows.variables import count_events

LIST_RUNS = sql("""
    SELECT id, trigger_id, workflow_id, version_id, subscriber_id, recipient, topics FROM notifications
    WHERE environment_id = :environment_id AND id {any:ids}
""")

LIST_IN_APP_MARKS = sql("""
    SELECT job_id, seen, read, seen_at, read_at FROM messages
    WHERE environment_id = :environment_id AND id {any:message_ids}
""")
LIST_ANSWERS = sql("""
    SELECT trigger_id, step_id, outputs FROM http_answers
    WHERE environment_id = :environment_id AND trigger_id {any:ids}
""")
LIST_EMAIL_RECEIPTS = sql("""
    SELECT job_id, delivery FROM messages
    WHERE environment_id = :environment_id AND job_id {any:job_ids} AND channel <> 'in_app' AND delivery IS NOT NULL
""")

_NEEDS_CHANNELS = frozenset({Channel.CHAT, Channel.PUSH})
_NEEDS_ENDPOINTS = frozenset({Channel.CHAT, Channel.TOOL})
_OPENS = frozenset({ReceiptKind.OPENED, ReceiptKind.CLICKED})


async def start_runs(
    db: Connection, environment_id: EnvironmentId, recipients: Sequence[Recipient], now: Millis
) -> list[Run]:
    """New runs, one for each recipient, with a job for every active step that is within no branch."""
    workflows = await list_workflows_by_id(db, environment_id, [one.trigger.workflow_id for one in recipients])
    versions = await list_versions_by_id(db, environment_id, [one.trigger.version_id for one in recipients])
    runs = []
    for recipient in recipients:
        version = versions[recipient.trigger.version_id]
        lane = lane_of(recipient.subscriber.key)
        jobs = make_jobs(version, None, lane, recipient.priority, now)
        topics = [{"_topicId": recipient.topic.id, "topicKey": recipient.topic.key}] if recipient.topic else []
        run = Run(
            id=NotificationId(new_id(now)),
            trigger=recipient.trigger,
            workflow=workflows[recipient.trigger.workflow_id],
            version=version,
            subscriber=recipient.subscriber,
            jobs=jobs,
            topics=topics,
            recipient={"subscriberId": recipient.subscriber.key},
            actor=recipient.actor,
            is_new=True,
        )
        if recipient.refusal is not None:
            _refuse(run, recipient.refusal, now)
        runs.append(run)
    await add_preferences(db, environment_id, runs)
    return runs


def make_jobs(
    version: WorkflowVersion, place: StepPlace | None, lane: int, priority: Priority, now: Millis
) -> list[Job]:
    """Return jobs for the active steps of the trunk, or of one path of a branch, which a run may take."""
    return [
        Job(id=JobId(new_id(now)), step=position, lane=lane, priority=priority, is_new=True)
        for position, step in enumerate(version.steps)
        if step.active and step.within == place
    ]


def _refuse(run: Run, refusal: dict[str, Any], now: Millis) -> None:
    """Skip all steps of a run; the first one says why in full."""
    for place, job in enumerate(run.jobs):
        job.finish(JobStatus.SKIPPED)
        raw = None if place else refusal
        job.note(now, DetailCode.TOPIC_RULES, raw=raw)


async def load_runs(db: Connection, environment_id: EnvironmentId, ids: Iterable[NotificationId]) -> list[Run]:
    """Runs as they stand, in the order given."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return []
    rows = {row["id"]: row for row in await db.fetch(LIST_RUNS, environment_id=environment_id, ids=wanted)}
    triggers = await list_triggers_by_id(db, environment_id, [row["trigger_id"] for row in rows.values()])
    triggers = await with_stored_data(db, environment_id, triggers)
    workflows = await list_workflows_by_id(db, environment_id, [row["workflow_id"] for row in rows.values()])
    versions = await list_versions_by_id(db, environment_id, [row["version_id"] for row in rows.values()])
    people = await list_subscribers_by_id(db, environment_id, [row["subscriber_id"] for row in rows.values()])
    jobs = await list_jobs_of_runs(db, environment_id, wanted)
    runs = [
        Run(
            id=run_id,
            trigger=triggers[rows[run_id]["trigger_id"]],
            workflow=workflows[rows[run_id]["workflow_id"]],
            version=versions[rows[run_id]["version_id"]],
            subscriber=triggers[rows[run_id]["trigger_id"]].recipients.overlay(people[rows[run_id]["subscriber_id"]]),
            jobs=jobs.get(run_id, []),
            topics=json_value(rows[run_id]["topics"]) or [],
            recipient=json_value(rows[run_id]["recipient"]),
        )
        for run_id in wanted
        if run_id in rows
    ]
    await _add_digest_events(db, environment_id, runs)
    await _add_shared_answers(db, environment_id, runs)
    await add_preferences(db, environment_id, runs)
    return runs


async def _add_digest_events(db: Connection, environment_id: EnvironmentId, runs: Sequence[Run]) -> None:
    """Complete the events of digests with their payloads, which are stored in the triggers."""
    filled = []
    for run in runs:
        for job in run.jobs:
            if job.outputs is None or run.step_of(job).type is not StepType.DIGEST:
                continue
            stored = job.digest if job.digest and "events" in job.digest else job.outputs
            if "events" in stored:
                job.has_events = True
                job.outputs = {"events": stored["events"], "eventCount": count_events(stored)}
                filled += stored["events"]
    if filled:
        await add_payloads(db, environment_id, filled)


async def _add_shared_answers(db: Connection, environment_id: EnvironmentId, runs: Sequence[Run]) -> None:
    """Complete the outputs of HTTP steps that all runs of a trigger share."""
    asking = [(run, job) for run in runs for job in run.jobs if job.outputs == SHARED_OUTPUTS]
    if not asking:
        return
    ids = list({run.trigger.id for run, _ in asking})
    rows = await db.fetch(LIST_ANSWERS, environment_id=environment_id, ids=ids)
    answers = {(row["trigger_id"], row["step_id"]): json_value(row["outputs"]) for row in rows}
    for run, job in asking:
        job.outputs = answers.get((run.trigger.id, run.step_of(job).id_bytes))
        job.is_shared = True


async def add_past(db: Connection, environment_id: EnvironmentId, runs: Sequence[Run]) -> None:
    """Add what the next steps of resumed runs ask for: who acted, and what became of messages of earlier steps."""
    await _add_actors(db, environment_id, [run for run in runs if run.version.refers_to_actor])
    asking = [(run, job) for run in runs if run.version.refers_to_steps for job in run.jobs]
    sent = [(run, job) for run, job in asking if job.status is JobStatus.COMPLETED and job.outputs is not None]
    await _add_in_app_marks(db, environment_id, [job for run, job in sent if run.step_of(job).type is StepType.IN_APP])
    await _add_email_marks(db, environment_id, [job for run, job in sent if run.step_of(job).type is StepType.EMAIL])


async def _add_actors(db: Connection, environment_id: EnvironmentId, runs: Sequence[Run]) -> None:
    keys = [run.trigger.recipients.actor.key for run in runs if run.trigger.recipients.actor is not None]
    people = await list_subscribers_by_key(db, environment_id, keys) if keys else {}
    for run in runs:
        recipients = run.trigger.recipients
        actor = None if recipients.actor is None else people.get(recipients.actor.key)
        run.actor = None if actor is None else recipients.overlay(actor)


async def _add_in_app_marks(db: Connection, environment_id: EnvironmentId, jobs: Sequence[Job]) -> None:
    ids = [found for job in jobs if job.outputs and (found := find_id(str(job.outputs.get("messageId")))) is not None]
    if not ids:
        return
    rows = await db.fetch(LIST_IN_APP_MARKS, environment_id=environment_id, message_ids=ids)
    marks = {row["job_id"]: row for row in rows}
    for job in jobs:
        row = marks.get(job.id)
        if row is not None:
            dates = {"lastSeenDate": _text(row["seen_at"]), "lastReadDate": _text(row["read_at"])}
            job.outputs = {**(job.outputs or {}), "seen": bool(row["seen"]), "read": bool(row["read"]), **dates}


async def _add_email_marks(db: Connection, environment_id: EnvironmentId, jobs: Sequence[Job]) -> None:
    """An e-mail is seen and read when its provider reports that it was opened or clicked."""
    if not jobs:
        return
    job_ids = [job.id for job in jobs]
    rows = await db.fetch(LIST_EMAIL_RECEIPTS, environment_id=environment_id, job_ids=job_ids)
    opened = {row["job_id"] for row in rows if not _OPENS.isdisjoint(json_value(row["delivery"]))}
    for job in jobs:
        is_opened = job.id in opened
        job.outputs = {**(job.outputs or {}), "seen": is_opened, "read": is_opened}


def _text(moment: Millis | None) -> str | None:
    return None if moment is None else iso_text(moment)


async def add_preferences(db: Connection, environment_id: EnvironmentId, runs: Sequence[Run]) -> None:
    """What each person switched, and what they have at providers where a step asks for it."""
    if not runs:
        return
    people = list({run.subscriber.id for run in runs})
    contexts = {run.id: stored_keys(keys_of(run.trigger.contexts)) for run in runs if run.trigger.contexts}
    workflows = list({run.workflow.id for run in runs})
    layers = await list_preferences_of_people(db, environment_id, people, workflows, set(contexts.values()))
    versions = {run.version.id: run.version for run in runs}
    asking = {one.id for one in versions.values() if not _NEEDS_CHANNELS.isdisjoint(one.channels)}
    needing = [run.subscriber.id for run in runs if run.version.id in asking]
    channels = await list_channels(db, environment_id, list(dict.fromkeys(needing)))
    reached = [run.subscriber.id for run in runs if not _NEEDS_ENDPOINTS.isdisjoint(run.version.channels)]
    places = await list_places(db, environment_id, list(dict.fromkeys(reached)))
    for run in runs:
        run.own_layers = subscriber_layers(layers, run.subscriber.id, contexts.get(run.id, ""), run.workflow.id)
        run.channels = channels.get(run.subscriber.id, [])
        if run.subscriber.id in places:
            wanted = keys_of(run.trigger.contexts or {})
            run.endpoints = [one for one in places[run.subscriber.id] if one.context_keys == wanted]
