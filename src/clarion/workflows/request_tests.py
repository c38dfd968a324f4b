"""Test requests: an HTTP step as it is in an editor, whose URL is called once; nothing is tried again or stored."""

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from msgspec import UNSET

from clarion.content.environment import find_environment_content
from clarion.engine.steps.http_request import NO_ANSWER
from clarion.errors import Invalid, Problem
from clarion.http.operation import DetachedCall
from clarion.ids import new_id
from clarion.providers.definition.result import SendFailure
from clarion.providers.sending.redaction import make_text_redactor
from clarion.sending.requests.call import find_violations, make_call, read_answer
from clarion.sending.requests.claim import get_signing_keys
from clarion.vocabulary import StepType
from clarion.workflows.content import ContentProblem
from clarion.workflows.control_checks import check_controls
from clarion.workflows.controls import HttpRequestControls, read_as
from clarion.workflows.email_tests import EmailTestThrottle
from clarion.workflows.http_requests import HttpRequest, choose_variables, render_request
from clarion.workflows.request_tests_wire import TestRequestOut

_LARGE = "The answer has 64 KB or more"


class RequestTestThrottle(EmailTestThrottle):
    """Counts the test requests of this process: they must not become a way to load servers of others."""

    category = "testRequest"
    things = "test requests"


def check_request(values: Mapping[str, Any]) -> None:
    """Raise Invalid for controls that could not be saved, or that lack the URL."""
    problems = {f"controlValues.{at}": [Problem(text)] for at, text in check_controls(StepType.HTTP_REQUEST, values)}
    if not problems and not values.get("url"):
        problems = {"controlValues.url": [Problem("is missing")]}
    if problems:
        raise Invalid(problems)


async def send_test_request(
    call: DetachedCall, values: Mapping[str, Any], variables: Mapping[str, Any]
) -> TestRequestOut:
    """Call the URL; failures are part of the result."""
    call.services.shared.get(RequestTestThrottle).admit(call.caller, call.now)
    environment_id, vault = call.environment_id, call.services.vault
    find = partial(find_environment_content, environment_id=environment_id, vault=vault)
    request = _render(values, variables, (await call.database.read(find)).masked_env)
    get_keys = partial(get_signing_keys, environment_id=environment_id, vault=vault, now=call.now)
    keys = await call.database.transaction(get_keys)
    outputs, error = dict(NO_ANSWER), None
    redact = make_text_redactor(request.secrets)
    started = time.perf_counter()
    try:
        answer = await call.services.gateway.call_encoded(make_call(request, new_id(call.now), keys, call.now))
    except SendFailure as failure:
        error = redact(failure.message)
    else:
        outputs = read_answer(answer, redact) if not answer.is_cut else {**NO_ANSWER, "status": answer.status}
        error = _LARGE if answer.is_cut else None if answer.is_success else f"The server answered {answer.status}"
    milliseconds = int((time.perf_counter() - started) * 1000)
    violations = find_violations(values, outputs["body"]) if outputs["ok"] else []
    if violations and values.get("enforceSchemaValidation"):
        outputs, error = {**outputs, "ok": False}, "The body does not fit the schema of the step"
    return TestRequestOut(
        method=request.method,
        url=request.shown_url,
        **outputs,
        error=UNSET if error is None else error,
        violations=[f"{one['path']} {one['message']}".strip() for one in violations] or UNSET,
        milliseconds=milliseconds,
    )


def _render(values: Mapping[str, Any], variables: Mapping[str, Any], masked_env: Mapping[str, str]) -> HttpRequest:
    controls = read_as(HttpRequestControls, values)
    try:
        return render_request(controls, choose_variables(controls, variables), masked_env)
    except ContentProblem as problem:
        raise Invalid.field(f"controlValues.{problem.path}", problem.reason) from None
