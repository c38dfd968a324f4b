"""Spans of runs: one for each unit of work that starts or resumes a run of a traced trigger."""

from collections.abc import Iterator, Sequence
from functools import partial

from clarion.clock import wall_nanoseconds
from clarion.db.port import Database
from clarion.engine.pipeline import Tasks
from clarion.engine.records import Run
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId, TriggerId, find_id, id_text
from clarion.jobs.model import Job
from clarion.monitoring.traces.model import Span, SpanEvent, SpanKind, TraceContext, run_span_id
from clarion.monitoring.traces.store import list_trigger_contexts
from clarion.monitoring.traces.tracer import Tracer, new_span_id
from clarion.vocabulary import JobStatus, StepType

MAX_LINKS = 128
"""A digest links to the triggers of its first events."""


class RunTracer:
    """Looks up which runs of a unit are traced, beside the work of the lanes, and exports their spans."""

    def __init__(self, database: Database, tracer: Tracer) -> None:
        self._database = database
        self._tracer = tracer
        self._tasks = Tasks()

    def trace(self, environment_id: EnvironmentId, runs: Sequence[Run], started_at: int) -> None:
        """Export the spans of runs whose unit of work is committed."""
        if runs:
            self._tasks.start(self._trace(environment_id, runs, started_at, wall_nanoseconds()))

    async def finish(self) -> None:
        await self._tasks.finish()

    async def _trace(self, environment_id: EnvironmentId, runs: Sequence[Run], started_at: int, ended_at: int) -> None:
        digested = {run.id: list(_list_digested(run)) for run in runs}
        ids = {run.trigger.id for run in runs}.union(*digested.values())
        try:
            contexts = await self._database.read(
                partial(list_trigger_contexts, environment_id=environment_id, trigger_ids=ids)
            )
        except StoreUnavailable:
            return
        for run in runs:
            trigger = contexts.get(run.trigger.id)
            if trigger is not None:
                links = [contexts[one] for one in digested[run.id] if one in contexts and one != run.trigger.id]
                self._tracer.export(_make_span(run, trigger, (started_at, ended_at), links))


def _make_span(run: Run, trigger: TraceContext, times: tuple[int, int], links: Sequence[TraceContext]) -> Span:
    first = trigger.at(run_span_id(run.id))
    return Span(
        name=f"{'run' if run.is_new else 'resume'} {run.workflow.key}",
        kind=SpanKind.CONSUMER,
        context=first if run.is_new else trigger.at(new_span_id()),
        parent=trigger if run.is_new else first,
        started_at=times[0],
        ended_at=times[1],
        attributes={
            "clarion.environment_id": id_text(run.trigger.environment_id),
            "clarion.transaction_id": run.trigger.transaction_key,
            "clarion.workflow": run.workflow.key,
            "clarion.notification_id": id_text(run.id),
        },
        events=[_make_event(run, job) for job in run.jobs if job.changed],
        links=links,
        error="failed" if any(job.changed and job.status is JobStatus.FAILED for job in run.jobs) else None,
    )


def _make_event(run: Run, job: Job) -> SpanEvent:
    step = run.step_of(job)
    return SpanEvent(
        f"step {step.type}",
        {"clarion.step": step.step_id, "clarion.step.type": step.type.value, "clarion.status": job.status.value},
    )


def _list_digested(run: Run) -> Iterator[TriggerId]:
    """The triggers of the first events of a digest that this unit closed."""
    for job in run.jobs:
        if job.changed and job.status is JobStatus.COMPLETED and run.step_of(job).type is StepType.DIGEST:
            for event in ((job.digest or {}).get("events") or ())[:MAX_LINKS]:
                trigger_id = find_id(str(event.get("id")))
                if trigger_id is not None:
                    yield TriggerId(trigger_id)
