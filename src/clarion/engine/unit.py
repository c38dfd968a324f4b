"""One unit of work in some lanes: take what is next, take it as far as it gets, write it down, count it."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from clarion.cache import CacheSlot
from clarion.clock import SECOND, Millis
from clarion.content.environment import ContentSource, get_environment_content
from clarion.contexts.actions import with_stored_data
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.engine.advance import Advance
from clarion.engine.claim import Claim, claim_next, settle_claim
from clarion.engine.layouts import add_layouts
from clarion.engine.load import start_runs
from clarion.engine.message_changes import MessageChanges
from clarion.engine.moving import follow_newest
from clarion.engine.recipients import Recipient
from clarion.engine.records import Run, make_links
from clarion.engine.requests import insert_requests
from clarion.engine.segments import add_segments
from clarion.engine.steps.decision import Defaults
from clarion.engine.texts import add_texts
from clarion.engine.topic_rules import apply_topic_rules
from clarion.engine.write import emit_run_events, write_runs
from clarion.environments.configuration import Versioned, get_configuration_version, get_or_load
from clarion.ids import EnvironmentId, MessageId, SubscriberId
from clarion.jobs.lanes import LaneSet, try_lock_lanes
from clarion.jobs.model import FINISHED, JobQueue
from clarion.monitoring.metrics import BatchKind, Measures, MessageOutcome
from clarion.vocabulary import Channel, JobStatus, MessageStatus, StepType

WAITING_STEPS = frozenset({StepType.DELAY, StepType.DIGEST, StepType.WAIT_FOR, StepType.ASK})
MAX_RUNS = 128
"""A larger unit shares its cost over more runs; beyond this there is little to gain."""

LIST_DEFAULTS = sql("""
    SELECT e.timezone, i.provider_id, i.channel, i.identifier, i.active FROM environments AS e
    LEFT JOIN integrations AS i ON i.environment_id = e.id AND i.deleted_at IS NULL
    WHERE e.id = :environment_id
""")
# Providers that reach people without an entry for them: everyone, or those with a phone. Of push, it is those whom a
# trigger addresses itself.
_OPEN_PROVIDERS = frozenset({"svc", "chat-webhook", "whatsapp-business"})
DEFAULTS: CacheSlot[EnvironmentId, Versioned[Defaults]] = CacheSlot(limit=10_000)

_IN_APP_SENT = (Channel.IN_APP.value, MessageOutcome.SENT)


class Resumed(Struct, frozen=True):
    """A run that was due."""

    run: Run
    due_at: Millis
    began_at: Millis
    """When its trigger was accepted, or when its last delay or digest ended."""


class UnitResult(Struct, frozen=True):
    """What a unit of work did."""

    runs: int = 0
    """Runs, triggers and batches that it worked on."""
    has_sends: bool = False
    """Whether it left jobs for senders."""
    has_batches: bool = False
    """Whether it handed recipients or triggers to lanes that may be another worker's."""
    has_more: bool = False
    """Whether the next unit will find work at once."""
    delivered: Sequence[Run] = ()
    """The runs whose new messages are in inboxes when the unit is committed."""
    resumed: Sequence[Resumed] = ()
    """Those among them that had started before."""
    changed: Sequence[tuple[SubscriberId, MessageId]] = ()
    """Messages in inboxes that have new content or are withdrawn."""


async def run_unit(
    db: Connection,
    environment_id: EnvironmentId,
    now: Millis,
    *,
    lanes: LaneSet,
    source: ContentSource,
    limit: int = MAX_RUNS,
) -> UnitResult:
    """Work on about `limit` due runs and recipients of those lanes that no other worker holds."""
    locked = await try_lock_lanes(db, environment_id, lanes)
    if not locked:
        return UnitResult()
    claim = await claim_next(db, environment_id, locked, limit=limit, now=now)
    return await run_claim(db, environment_id, claim, now, source)


async def run_claim(
    db: Connection, environment_id: EnvironmentId, claim: Claim, now: Millis, source: ContentSource
) -> UnitResult:
    """Take everything in the claim as far as it gets."""
    recipients, has_postponed = await _with_contexts(db, environment_id, claim.recipients), False
    # Before they go on, which changes when they are due.
    resumed = tuple(_resume(run, now) for run in claim.due)
    if any(one.topic is not None or one.trigger.recipients.segments for one in recipients):
        recipients, has_postponed = await apply_topic_rules(db, environment_id, recipients, now)
    has_triggered, changes = False, MessageChanges(db, environment_id, now)
    await follow_newest(db, environment_id, claim.due, now)
    runs = [*claim.due, *await start_runs(db, environment_id, recipients, now)]
    if runs:
        version = claim.configuration_version
        if version is None:
            version = await get_configuration_version(db, environment_id)
        defaults = await get_defaults(db, environment_id, version)
        content = await get_environment_content(db, environment_id, version, source.vault)
        links = make_links(source, content)
        for run in runs:
            run.content, run.links = content, links
        await add_layouts(db, environment_id, version, runs)
        await add_texts(db, runs, version)
        await add_segments(db, environment_id, version, runs)
        advance = Advance(db, environment_id, defaults, changes, now)
        has_postponed |= await advance.run_all(runs)
        has_triggered = advance.triggered.count > 0
        has_postponed |= advance.has_woken
        await write_runs(db, environment_id, runs, now)
        await insert_requests(db, environment_id, runs, source.vault)
        await emit_run_events(db, environment_id, runs, version, now)
    await settle_claim(db, environment_id, claim)
    return UnitResult(
        runs=len(runs) + len(claim.progress) + len(claim.batches),
        has_sends=changes.calls_providers or any(job.queue is JobQueue.SEND for run in runs for job in run.jobs),
        has_batches=claim.has_expanded or has_triggered,
        has_more=claim.has_more or has_postponed or has_triggered,
        delivered=runs,
        resumed=resumed,
        changed=tuple(changes.shown),
    )


async def _with_contexts(db: Connection, environment_id: EnvironmentId, recipients: list[Recipient]) -> list[Recipient]:
    """The recipients, whose triggers have the stored data of their contexts."""
    triggers = {one.trigger.id: one.trigger for one in recipients if one.trigger.contexts}
    if not triggers:
        return recipients
    triggers = await with_stored_data(db, environment_id, triggers)
    return [replace(one, trigger=triggers[one.trigger.id]) if one.trigger.id in triggers else one for one in recipients]


def _resume(run: Run, now: Millis) -> Resumed:
    due_at, began_at = now, run.trigger.created_at
    for job in run.jobs:
        is_wait = run.step_of(job).type in WAITING_STEPS
        if job.queue is JobQueue.DECIDE and job.due_at is not None:
            due_at = job.due_at
            if is_wait and job.status is JobStatus.DELAYED:
                began_at = due_at
        elif is_wait and job.status is JobStatus.COMPLETED and job.details:
            began_at = job.details[-1].at
    return Resumed(run, due_at, began_at)


async def get_defaults(db: Connection, environment_id: EnvironmentId, version: int) -> Defaults:
    """What holds for everyone in the environment, at this version of its configuration."""
    return await get_or_load(db, DEFAULTS, environment_id, version, _load_defaults)


async def _load_defaults(db: Connection, environment_id: EnvironmentId) -> Defaults:
    rows = await db.fetch(LIST_DEFAULTS, environment_id=environment_id)
    active = [row for row in rows if row["active"]]
    inactive: dict[Channel, list[str]] = {}
    for row in rows:
        if row["provider_id"] is not None and not row["active"]:
            inactive.setdefault(Channel(row["channel"]), []).append(row["identifier"])
    return Defaults(
        open_providers=frozenset(
            row["provider_id"]
            for row in active
            if row["provider_id"] in _OPEN_PROVIDERS or row["channel"] == Channel.PUSH
        ),
        channels=frozenset(Channel(row["channel"]) for row in active),
        inactive=inactive,
        timezone=next((row["timezone"] for row in rows), None),
    )


def measure_unit(measures: Measures, done: UnitResult, now: Millis) -> None:
    """Count what a unit of work did; `now` is the moment at which it was durable."""
    measures.batches[BatchKind.UNIT].observe(done.runs)
    started: list[float] = []
    completed: list[float] = []
    # This runs for each trigger, so it calls as little as it can.
    for run in done.delivered:
        if run.is_new:
            seconds = (now - run.trigger.created_at) / SECOND
            started.append(seconds)
            # Steps are worked on in their order, so the last one says whether any is left.
            if run.jobs and run.jobs[-1].status in FINISHED:
                completed.append(seconds)
    measures.started_runs += len(started)
    _count_messages(measures, done)
    for resumed in done.resumed:
        started.append((now - resumed.due_at) / SECOND)
        if resumed.run.jobs[-1].status in FINISHED and not resumed.run.is_canceled:
            completed.append((now - resumed.began_at) / SECOND)
    measures.lane_seconds.observe_all(started)
    measures.run_seconds.observe_all(completed)
    measures.completed_runs += len(completed)


def _count_messages(measures: Measures, done: UnitResult) -> None:
    in_app = 0
    for run in done.delivered:
        for message in run.messages:
            if message.channel is Channel.IN_APP:
                in_app += 1
            elif message.status is MessageStatus.WARNING:
                measures.messages[message.channel.value, MessageOutcome.SKIPPED] += 1
    measures.messages[_IN_APP_SENT] += in_app
