"""Advancing runs: steps are decided one after the other until one has to wait or none is left."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from clarion.clock import Millis
from clarion.conditions import Circumstances, CompiledLogic, ConditionResult, decide_filters
from clarion.db.port import Connection
from clarion.engine.digests import DigestWindows
from clarion.engine.endings import close, end_stopped, stop_on_fail
from clarion.engine.load import add_past, make_jobs
from clarion.engine.masking import mask_result
from clarion.engine.message_changes import MessageChanges
from clarion.engine.records import Run, link_variables, variables_of
from clarion.engine.shared_requests import SharedRequests
from clarion.engine.steps.decision import (
    Branched,
    Defaults,
    Done,
    Ended,
    Failed,
    Merged,
    Sending,
    Skipped,
    StepContext,
    StepOutcome,
    Waiting,
)
from clarion.engine.steps.digest import find_window_id
from clarion.engine.steps.registry import DECIDE, FINISH
from clarion.engine.steps.throttle import find_passes
from clarion.engine.texts import note_texts
from clarion.engine.throttles import ThrottlePasses
from clarion.engine.triggered import TriggeredWorkflows
from clarion.engine.waits import EventWaits
from clarion.ids import EnvironmentId
from clarion.jobs.details import DetailCode
from clarion.jobs.model import FINISHED, Job, JobQueue
from clarion.monitoring.logs import describe_error
from clarion.preferences.model import DecidingLayer, decide_channel, layers_of
from clarion.templates import TemplateProblem, make_texts, render_value
from clarion.templates.texts import NAME
from clarion.times import is_within
from clarion.vocabulary import Channel, JobStatus, StepType
from clarion.work import WorkBudget, spending
from clarion.workflows.controls import ControlsProblem
from clarion.workflows.model import Step, StepPlace, WithControls

log = logging.getLogger(__name__)

_FILTERED_BY = {
    DecidingLayer.WORKFLOW_DEFAULT: DetailCode.WORKFLOW_FILTERED,
    DecidingLayer.WORKFLOW_OVERRIDE: DetailCode.OVERRIDE_FILTERED,
    DecidingLayer.SUBSCRIBER_GLOBAL: DetailCode.SUBSCRIBER_FILTERED,
    DecidingLayer.SUBSCRIBER_WORKFLOW: DetailCode.SUBSCRIBER_WORKFLOW_FILTERED,
    DecidingLayer.CONTEXT_GLOBAL: DetailCode.SUBSCRIBER_FILTERED,
    DecidingLayer.CONTEXT_WORKFLOW: DetailCode.SUBSCRIBER_WORKFLOW_FILTERED,
}
_ASKING = frozenset({StepType.DIGEST, StepType.THROTTLE})
# What a template, a condition or a length of time may raise over unexpected data: the step fails, not the unit.
_STEP_ERRORS = (ArithmeticError, LookupError, TypeError, ValueError, RecursionError)


class Advance:
    """Takes the runs of one unit of work as far as they get, one after the other."""

    def __init__(
        self, db: Connection, environment_id: EnvironmentId, defaults: Defaults, changes: MessageChanges, now: Millis
    ) -> None:
        self._db = db
        self._environment_id = environment_id
        self._defaults = defaults
        self._now = now
        self._digests = DigestWindows(db, environment_id, now)
        self._throttles = ThrottlePasses(db, environment_id, now)
        self.triggered = TriggeredWorkflows(db, environment_id, now)
        self._shared = SharedRequests(db, environment_id, now)
        self._waits = EventWaits(db, environment_id, now)
        self._changes = changes
        self._budget = WorkBudget()

    @property
    def has_woken(self) -> bool:
        """Whether runs that waited for their digests, or for a shared answer, are due at once."""
        return self._digests.has_sealed or self._shared.has_woken

    async def run_all(self, runs: Sequence[Run]) -> bool:
        """Returns whether it left some to the next unit, because the texts of those before took much work."""
        await add_past(self._db, self._environment_id, [run for run in runs if not run.is_new])
        with spending(self._budget):
            await self._load(runs)
            left = await self._run_some(runs)
        await self._digests.write()
        await self._throttles.write()
        await self._waits.write()
        await self._shared.wake_others()
        return left

    async def _run_some(self, runs: Sequence[Run]) -> bool:
        for place, run in enumerate(runs):
            # The first one always gets on, whatever loading cost.
            if place and self._budget.is_unit_done:
                for later in runs[place:]:
                    _postpone(later, self._now)
                return True
            self._budget.start_run()
            await self._run(run)
        return False

    async def _run(self, run: Run) -> None:
        if end_stopped(run, self._now):
            return
        for place, job in enumerate(run.jobs):
            if job.status in FINISHED:
                continue
            if job.queue is JobQueue.SEND or job.status is JobStatus.RUNNING:
                if all(later.status is JobStatus.PENDING for later in run.jobs[place + 1 :]):
                    return
                # A redriven job: its run has gone on without it.
                continue
            is_resumed = job.status is JobStatus.DELAYED
            if is_resumed and (job.due_at is None or job.due_at > self._now):
                return
            outcome = await self._take(run, job, is_resumed=is_resumed)
            if not _settle(run, place, outcome, self._now):
                return

    async def _take(self, run: Run, job: Job, *, is_resumed: bool) -> StepOutcome:
        job.queue = job.due_at = None
        job.changed = True
        step = run.step_of(job)
        is_finished = is_resumed and step.type in FINISH
        if not is_finished:
            job.note(self._now, DetailCode.STEP_QUEUED)
        try:
            context = self._context(run, job)
            if is_finished:
                return await FINISH[step.type](context)
            refused = _refuse(context)
            return refused if refused is not None else await _decide(context)
        except (TemplateProblem, ControlsProblem) as problem:
            raw = {"reason": str(problem)}
            job.note(self._now, DetailCode.CONTENT_FAILED, raw=raw)
            return Failed()
        except _STEP_ERRORS as error:
            fields = {"workflow": run.workflow.key, "step": step.step_id, "trace": describe_error(error)}
            log.error("Step failed", extra=fields)  # noqa: TRY400 - the message of the error may quote the payload
            job.note(self._now, DetailCode.STEP_FAILED, raw={"reason": f"{type(error).__name__}: {error}"})
            return Failed()

    async def _load(self, runs: Sequence[Run]) -> None:
        """Read together what steps will ask for one by one."""
        windows, led, passes = [], [], dict[bytes, Millis]()
        for run in self._list_asking(runs):
            for job in run.jobs:
                kind = run.step_of(job).type
                if kind not in _ASKING or job.status in FINISHED:
                    continue
                if job.status is JobStatus.DELAYED:
                    led += [job.id] if kind is StepType.DIGEST else []
                    continue
                with suppress(TemplateProblem, ControlsProblem, *_STEP_ERRORS):
                    context = self._context(run, job)
                    if kind is StepType.DIGEST:
                        windows.append(find_window_id(context))
                    elif (found := find_passes(context)) is not None:
                        passes[found[0]] = min(found[1], passes.get(found[0], found[1]))
        await self._digests.load(windows)
        await self._digests.load_led(led)
        await self._throttles.load(passes)
        await self._waits.load(runs)
        await self._changes.load(runs)

    def _list_asking(self, runs: Sequence[Run]) -> Iterator[Run]:
        """Those with digest or throttle steps, until their keys take much work; the others ask for themselves."""
        for run in runs:
            if self._budget.is_unit_done:
                return
            if not run.version.step_types.isdisjoint(_ASKING):
                self._budget.start_run()
                yield run

    def _context(self, run: Run, job: Job) -> StepContext:
        step = run.step_of(job)
        variables = variables_of(run)
        if run.version.refers_to_texts:
            variables[NAME] = make_texts(run.texts)
        if step.channel is not None:
            variables |= link_variables(run, job, step.channel, self._now)
        return StepContext(
            now=self._now,
            run=run,
            job=job,
            step=step,
            chosen=_choose(step, variables, _circumstances(run, job, self._now)) if step.variants else step,
            variables=variables,
            digests=self._digests,
            throttles=self._throttles,
            triggered=self.triggered,
            shared=self._shared,
            waits=self._waits,
            changes=self._changes,
            defaults=self._defaults,
        )


async def _decide(context: StepContext) -> StepOutcome:
    outcome = await DECIDE[context.step.type](context)
    note_texts(context)
    return outcome


def _choose(step: Step, variables: dict[str, object], circumstances: Circumstances) -> WithControls:
    """The first variant whose conditions hold, else the step itself."""
    for variant in step.variants:
        if decide_filters(_filters(variant, variables), variables, circumstances).passed:
            return variant
    return step


def _filters(chosen: WithControls, variables: dict[str, object]) -> list[dict[str, Any]]:
    """The filters of a step or a variant; expected values may be templates."""
    if not chosen.has_templates_in_filters:
        return chosen.filters
    rendered: list[dict[str, Any]] = render_value(chosen.filters, variables)
    return rendered


def _circumstances(run: Run, job: Job, now: Millis) -> Circumstances:
    return Circumstances(now=now, find_previous=partial(run.find_previous, job))


def _rule(chosen: WithControls, variables: dict[str, object]) -> CompiledLogic | None:
    """When the step runs; expected values may be templates."""
    if chosen.rule is None or not chosen.has_templates_in_rule:
        return chosen.rule
    return CompiledLogic(render_value(chosen.rule.logic, variables))


def _refuse(context: StepContext) -> StepOutcome | None:
    """Whether a condition, a preference or the person's schedule says no; evaluated now that the step is reached."""
    return _refuse_by_condition(context) or _refuse_by_preference(context) or _refuse_by_schedule(context)


def _refuse_by_condition(context: StepContext) -> StepOutcome | None:
    if not context.step.filters and context.chosen.rule is None:
        return None
    held: dict[str, Any] = {}
    for decision in _decide_conditions(context):
        if not decision.passed:
            context.note(DetailCode.CONDITIONS_REFUSED, raw=decision.explanation)
            return Skipped()
        held |= decision.explanation
    context.add_to_last("conditions", held)
    return None


def _decide_conditions(context: StepContext) -> Iterator[ConditionResult]:
    """What the step's filters and its JSON-logic come to; both must hold."""
    if context.step.filters:
        filters = _filters(context.step, context.variables)
        circumstances = _circumstances(context.run, context.job, context.now)
        decided = decide_filters(filters, context.variables, circumstances)
        yield mask_result(decided, context.step.filters, context.run.content)
    rule = _rule(context.chosen, context.variables)
    if rule is not None and context.chosen.rule is not None:
        yield mask_result(context.decide(rule), context.chosen.rule.logic, context.run.content)


def _refuse_by_preference(context: StepContext) -> StepOutcome | None:
    run, channel = context.run, context.step.channel
    if channel is None:
        return None
    _note_criticality(context, channel)
    layers = layers_of(run.workflow, run.own_layers)
    verdict = decide_channel(layers, channel)
    if verdict.enabled or verdict.layer is None:
        return None
    raw = {"channel": channel, "layer": verdict.layer}
    context.note(_FILTERED_BY[verdict.layer], raw=raw if verdict.reason is None else raw | {"reason": verdict.reason})
    return Skipped()


def _note_criticality(context: StepContext, channel: Channel) -> None:
    """Note what the workflow may not tell later: whether it is critical, and what the person switched in vain.

    That a trigger was critical when it was accepted is stored with it, so that only a change is noted.
    """
    run = context.run
    is_critical = run.workflow.is_critical
    if is_critical is not run.trigger.priority.is_critical:
        context.add_to_last("critical", is_critical)
    if is_critical and run.own_layers:
        ignored = decide_channel(run.own_layers, channel)
        if not ignored.enabled:
            context.add_to_last("overruled", ignored.layer)


def _refuse_by_schedule(context: StepContext) -> StepOutcome | None:
    run, channel = context.run, context.step.channel
    if channel in (None, Channel.IN_APP) or run.workflow.is_critical or run.subscriber.schedule is None:
        return None
    if is_within(run.subscriber.schedule, context.now, context.zone):
        if run.subscriber.schedule.get("isEnabled"):
            context.add_to_last("schedule", {"timezone": context.zone})
        return None
    raw = {"timezone": context.zone, "schedule": run.subscriber.schedule}
    context.note(DetailCode.OUTSIDE_SCHEDULE, raw=raw)
    return Skipped()


def _settle(run: Run, place: int, outcome: StepOutcome, now: Millis) -> bool:
    """Apply the outcome to the job and to those behind it; returns whether the run goes on at once."""
    job = run.jobs[place]
    match outcome:
        case Done(outputs, messages):
            job.status, job.outputs = JobStatus.COMPLETED, outputs
            run.messages += messages
        case Branched(path):
            job.status, job.outputs = JobStatus.COMPLETED, {"path": path}
            run.jobs[place + 1 : place + 1] = _list_path(run, job, path, now)
        case Skipped():
            job.status = JobStatus.SKIPPED
        case Failed(messages):
            job.status = JobStatus.FAILED
            run.messages += messages
            stop_on_fail(run, place, now)
        case _:
            _stop(run, place, outcome, now)
            return False
    return True


def _stop(run: Run, place: int, outcome: Waiting | Sending | Merged | Ended, now: Millis) -> None:
    """Apply an outcome after which the run does not go on at once, or not at all."""
    job = run.jobs[place]
    match outcome:
        case Waiting(until):
            job.wait(_limit_wait(run, job, until), JobQueue.DECIDE)
        case Sending(messages):
            job.enqueue(now, JobQueue.SEND)
            run.messages += messages
        case Merged(into):
            run.digested_into = into
            close(run, place, JobStatus.MERGED, DetailCode.DIGEST_MERGED, now)
        case Ended(status, reason, raw, outputs):
            close(run, place, status, reason, now, raw=raw)
            if outputs is not None:
                job.status, job.outputs = JobStatus.COMPLETED, outputs


def _list_path(run: Run, branch: Job, path: str | None, now: Millis) -> list[Job]:
    """Return the jobs of the path that a run takes, which are none where it takes none."""
    if path is None:
        return []
    place = StepPlace(run.step_of(branch).step_id, path)
    return make_jobs(run.version, place, branch.lane, branch.priority, now)


def _postpone(run: Run, now: Millis) -> None:
    """Leave a run to the next unit: one that was due is so still."""
    if run.is_new and run.jobs[0].status not in FINISHED:
        run.jobs[0].enqueue(now, JobQueue.DECIDE)


def _limit_wait(run: Run, job: Job, until: Millis) -> Millis:
    """A run waits no longer than until its trigger expires, but for a window that others may join."""
    expires_at = run.trigger.expires_at
    is_window = run.step_of(job).type is StepType.DIGEST
    return until if expires_at is None or is_window else min(until, expires_at)
