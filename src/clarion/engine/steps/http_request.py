"""HTTP request: the request is rendered here and made by the sender; later steps see the answer.

A request for a whole trigger is made by the first run that comes here. The others wait for the answer.
"""

from typing import Any, Final

from msgspec.structs import replace

from clarion.engine.records import NewRequest
from clarion.engine.shared_requests import SharedRequest
from clarion.engine.steps.decision import Done, Failed, Sending, StepContext, StepOutcome, Waiting
from clarion.ids import id_text
from clarion.jobs.details import DetailCode
from clarion.vocabulary import JobStatus
from clarion.workflows.content import ContentProblem
from clarion.workflows.controls import HttpRequestControls, Share
from clarion.workflows.http_requests import choose_variables, render_request

NO_ANSWER: Final[dict[str, Any]] = {"ok": False, "status": None, "headers": {}, "body": None}
"""What later steps see of a request that was not made, or not answered."""


async def decide(context: StepContext) -> StepOutcome:
    controls = context.read_controls(HttpRequestControls)
    if controls.share is not Share.TRIGGER:
        return _prepare(context, controls, None)
    shared = await context.shared.join(context.run, context.step, context.job)
    if shared.outcome is None and shared.job_id != context.job.id:
        context.note(DetailCode.WAITS_FOR_SHARED, raw={"until": shared.wake_at})
    return await _share(context, controls, shared)


async def finish(context: StepContext) -> StepOutcome:
    """The answer to a shared request has come, or it is late."""
    shared = await context.shared.join(context.run, context.step, context.job)
    if shared.outcome is not None:
        context.shared.note_resumed(shared)
    return await _share(context, context.read_controls(HttpRequestControls), shared)


async def _share(context: StepContext, controls: HttpRequestControls, shared: SharedRequest) -> StepOutcome:
    if shared.outcome is not None:
        return _use(context, shared)
    if shared.job_id != context.job.id:
        return Waiting(shared.wake_at)
    outcome = _prepare(context, controls, id_text(shared.request_id))
    if isinstance(outcome, Failed):
        context.job.is_shared = True
        await context.shared.settle(shared, JobStatus.FAILED, dict(NO_ANSWER))
    return outcome


def _use(context: StepContext, shared: SharedRequest) -> StepOutcome:
    outputs = shared.outputs or dict(NO_ANSWER)
    raw = {"_jobId": id_text(shared.job_id), "statusCode": outputs["status"], "ok": outputs["ok"]}
    context.note(DetailCode.ANSWER_SHARED, raw=raw)
    context.job.is_shared = True
    if shared.outcome is JobStatus.COMPLETED:
        return Done(outputs=outputs)
    context.job.outputs = outputs
    return Failed()


def _prepare(context: StepContext, controls: HttpRequestControls, key: str | None) -> StepOutcome:
    variables = choose_variables(controls, context.variables)
    try:
        request = render_request(controls, variables, context.run.content.masked_env)
    except ContentProblem as problem:
        context.note(DetailCode.REQUEST_FAILED, raw={"error": str(problem)})
        context.job.outputs = dict(NO_ANSWER)
        return Failed()
    context.run.requests.append(NewRequest(job_id=context.job.id, request=replace(request, key=key)))
    raw: dict[str, Any] = {"method": request.method, "url": request.shown_url}
    context.note(DetailCode.REQUEST_PREPARED, raw=raw if key is None else raw | {"share": Share.TRIGGER})
    return Sending([])
