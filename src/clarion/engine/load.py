"""Loading what a unit of work needs, in one query for each kind of thing."""

from collections.abc import Iterable, Sequence

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.engine.recipients import Recipient
from clarion.engine.records import Run
from clarion.ids import EnvironmentId, JobId, NotificationId, new_id
from clarion.jobs.lanes import lane_of
from clarion.jobs.model import Job
from clarion.jobs.store import list_jobs_of_runs
from clarion.jsontext import json_value
from clarion.preferences.store import GLOBAL, list_preferences_of_people
from clarion.subscribers.channels import list_channels
from clarion.subscribers.store import list_subscribers_by_id
from clarion.triggers.store import list_triggers_by_id
from clarion.vocabulary import Channel
from clarion.workflows.store import list_versions_by_id, list_workflows_by_id

LIST_RUNS = sql("""
    SELECT id, trigger_id, workflow_id, version_id, subscriber_id, recipient, topics FROM notifications
    WHERE environment_id = :environment_id AND id {any:ids}
""")

_NEEDS_CHANNELS = frozenset({Channel.CHAT, Channel.PUSH})


async def start_runs(
    db: Connection, environment_id: EnvironmentId, recipients: Sequence[Recipient], now: Millis
) -> list[Run]:
    """New runs, one for each recipient, with a job for every active step."""
    workflows = await list_workflows_by_id(db, environment_id, [one.trigger.workflow_id for one in recipients])
    versions = await list_versions_by_id(db, environment_id, [one.trigger.version_id for one in recipients])
    runs = []
    for one in recipients:
        version = versions[one.trigger.version_id]
        lane = lane_of(one.subscriber.key)
        jobs = [
            Job(id=JobId(new_id(now)), step=place, lane=lane, priority=one.priority)
            for place, step in enumerate(version.steps)
            if step.active
        ]
        topics = [{"_topicId": one.topic.id, "topicKey": one.topic.key}] if one.topic else []
        run = Run(
            id=NotificationId(new_id(now)),
            trigger=one.trigger,
            workflow=workflows[one.trigger.workflow_id],
            version=version,
            subscriber=one.subscriber,
            jobs=jobs,
            topics=topics,
            recipient={"subscriberId": one.subscriber.key},
            actor=one.actor,
            is_new=True,
        )
        runs.append(run)
    await _add_preferences(db, environment_id, runs)
    return runs


async def load_runs(db: Connection, environment_id: EnvironmentId, ids: Iterable[NotificationId]) -> list[Run]:
    """Runs as they stand, in the order given."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return []
    rows = {row["id"]: row for row in await db.fetch(LIST_RUNS, environment_id=environment_id, ids=wanted)}
    triggers = await list_triggers_by_id(db, environment_id, [row["trigger_id"] for row in rows.values()])
    workflows = await list_workflows_by_id(db, environment_id, [row["workflow_id"] for row in rows.values()])
    versions = await list_versions_by_id(db, environment_id, [row["version_id"] for row in rows.values()])
    people = await list_subscribers_by_id(db, environment_id, [row["subscriber_id"] for row in rows.values()])
    jobs = await list_jobs_of_runs(db, environment_id, wanted)
    runs = [
        Run(
            id=one,
            trigger=triggers[rows[one]["trigger_id"]],
            workflow=workflows[rows[one]["workflow_id"]],
            version=versions[rows[one]["version_id"]],
            subscriber=people[rows[one]["subscriber_id"]],
            jobs=jobs.get(one, []),
            topics=json_value(rows[one]["topics"]) or [],
            recipient=json_value(rows[one]["recipient"]),
        )
        for one in wanted
        if one in rows
    ]
    await _add_preferences(db, environment_id, runs)
    return runs


async def _add_preferences(db: Connection, environment_id: EnvironmentId, runs: Sequence[Run]) -> None:
    """What each person switched, and what they have at providers where a step asks for it."""
    if not runs:
        return
    people = list({run.subscriber.id for run in runs})
    layers = await list_preferences_of_people(db, environment_id, people, list({run.workflow.id for run in runs}))
    versions = {run.version.id: run.version for run in runs}
    asking = {one.id for one in versions.values() if not _NEEDS_CHANNELS.isdisjoint(one.channels)}
    needing = [run.subscriber.id for run in runs if run.version.id in asking]
    channels = await list_channels(db, environment_id, list(dict.fromkeys(needing)))
    for run in runs:
        run.subscriber_global = layers.get((run.subscriber.id, GLOBAL))
        run.subscriber_workflow = layers.get((run.subscriber.id, run.workflow.id))
        run.channels = channels.get(run.subscriber.id, [])
