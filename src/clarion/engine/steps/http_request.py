"""HTTP request: the request is rendered here and made by the sender; later steps see the answer."""

from typing import Any, Final

from clarion.engine.records import NewRequest
from clarion.engine.steps.decision import Failed, Sending, StepContext, StepOutcome
from clarion.jobs.details import DetailCode
from clarion.workflows.content import ContentProblem
from clarion.workflows.controls import HttpRequestControls
from clarion.workflows.http_requests import render_request

NO_ANSWER: Final[dict[str, Any]] = {"ok": False, "status": None, "headers": {}, "body": None}
"""What later steps see of a request that was not made, or not answered."""


async def decide(context: StepContext) -> StepOutcome:
    controls = context.read_controls(HttpRequestControls)
    try:
        request = render_request(controls, context.variables, context.run.content.masked_env)
    except ContentProblem as problem:
        context.note(DetailCode.REQUEST_FAILED, raw={"error": str(problem)})
        context.job.outputs = dict(NO_ANSWER)
        return Failed()
    context.run.requests.append(NewRequest(job_id=context.job.id, request=request))
    context.note(DetailCode.REQUEST_PREPARED, raw={"method": request.method, "url": request.shown_url})
    return Sending([])
