"""Made-up answers to HTTP steps, for simulations and previews: nothing is called."""

from typing import Any

from clarion.clock import Millis
from clarion.jobs.details import DetailCode
from clarion.sending.requests.model import ClaimedRequest
from clarion.workflows.schema_examples import make_example


def answer_with_example(claimed: ClaimedRequest, now: Millis) -> None:
    """Complete a claimed request as if the server had answered with what the schema of the step describes."""
    outputs = make_example_answer(claimed.step.controls.get("responseBodySchema"))
    raw: dict[str, Any] = {"simulated": True, "attempt": 1, "statusCode": outputs["status"], "body": outputs["body"]}
    if claimed.request is not None:
        raw |= {"method": claimed.request.method, "url": claimed.request.shown_url}
    claimed.job.note(now, DetailCode.REQUEST_ANSWERED, raw=raw)
    claimed.complete(outputs)


def make_example_answer(schema: Any) -> dict[str, Any]:
    """An answer as later steps see it."""
    body = make_example(schema) if isinstance(schema, dict) else {}
    return {"ok": True, "status": 200, "headers": {"content-type": "application/json"}, "body": body}
