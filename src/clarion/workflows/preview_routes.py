"""Previews of steps, and test e-mails of them; nothing is saved."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from clarion.answers.links import NAME as ANSWERS
from clarion.answers.links import make_sample_answers
from clarion.content.environment import find_environment_content
from clarion.content.layouts.usage import find_previewed_layout
from clarion.content.translations.known import find_texts
from clarion.http.limits import LARGE_BODY
from clarion.http.operation import DetachedCall, Transaction, operation
from clarion.ids import WorkflowKey
from clarion.jsontext import plain_value
from clarion.preferences.unsubscribe.targets import make_sample_links
from clarion.templates.texts import NAME as TEXTS
from clarion.vocabulary import Scope, StepType
from clarion.workflows import email_tests, request_tests, store
from clarion.workflows.current import get_step, translated
from clarion.workflows.email_tests_wire import TestEmailIn, TestEmailOut
from clarion.workflows.model import Workflow
from clarion.workflows.preview import render_preview
from clarion.workflows.preview_wire import PreviewIn, PreviewOut, PreviewPayloadIn, PreviewResultOut, UnsavedPreviewIn
from clarion.workflows.request_tests_wire import TestRequestIn, TestRequestOut
from clarion.workflows.tree import list_questions, take_out_steps
from clarion.workflows.variables import digest_variables, workflow_variables


@operation(
    "POST",
    "/v2/workflows/{workflowId}/step/{stepId}/preview",
    scope=Scope.WORKFLOWS_READ,
    status=201,
    body=PreviewIn,
    body_limit=LARGE_BODY,
    transaction=Transaction.NONE,
)
async def preview_workflow_step(
    call: DetachedCall, workflow_key: WorkflowKey, step_id: str, body: PreviewIn
) -> PreviewOut:
    """Render a step with the given variables; nothing is saved or sent."""
    workflow, version, step = await call.database.read(
        lambda db: get_step(db, call.caller.environment_id, workflow_key, step_id)
    )
    schema = version.payload_schema if version.validate_payload else None
    values = step.controls if body.control_values is None else body.control_values
    questions = list_questions(version.steps, version.steps.index(step))
    answers = make_sample_answers(call.services.settings.public_url, questions)
    variables = {ANSWERS: answers} | await find_variables(call, body, workflow)
    if version.refers_to_texts or body.control_values is not None:
        owner = translated(workflow)
        variables[TEXTS] = await call.database.read(partial(find_texts, owner=owner, locale=variables["locale"]))
    preview = await _render(call, step.type, values, variables, schema)
    return PreviewOut.of(body, PreviewResultOut(type=step.type, preview=preview), version.payload_schema, variables)


@operation(
    "POST",
    "/v1/workflows/steps/preview",
    scope=Scope.WORKFLOWS_READ,
    body=UnsavedPreviewIn,
    body_limit=LARGE_BODY,
    transaction=Transaction.NONE,
)
async def preview_unsaved_step(call: DetachedCall, body: UnsavedPreviewIn) -> PreviewOut:
    """Render a step that need not be saved, nor its workflow, with the given variables; nothing is saved or sent."""
    step_type = StepType(body.type.value)
    preview, variables = await _render_unsaved(call, step_type, body)
    return PreviewOut.of(body, PreviewResultOut(type=step_type, preview=preview), body.payload_schema, variables)


@operation(
    "POST",
    "/v1/workflows/steps/test-request",
    scope=Scope.WORKFLOWS_WRITE,
    also=(Scope.EVENTS_WRITE, Scope.WEBHOOKS_WRITE),
    body=TestRequestIn,
    body_limit=LARGE_BODY,
    transaction=Transaction.NONE,
    refusals=(429,),
)
async def send_test_request(call: DetachedCall, body: TestRequestIn) -> TestRequestOut:
    """Make the request of an HTTP step once, as it is in an editor, and show what later steps would see.

    It is made with the variables of the environment, also secret ones, which are masked in what is shown.
    """
    request_tests.check_request(body.control_values or {})
    variables = await find_variables(call, body, None, has_secrets=True)
    return await request_tests.send_test_request(call, body.control_values or {}, variables)


@operation(
    "POST",
    "/v1/workflows/steps/test-email",
    scope=Scope.WORKFLOWS_WRITE,
    also=(Scope.EVENTS_WRITE,),
    body=TestEmailIn,
    body_limit=LARGE_BODY,
    transaction=Transaction.NONE,
    refusals=(429,),
)
async def send_test_email(call: DetachedCall, body: TestEmailIn) -> TestEmailOut:
    """Send an e-mail step, as it is in an editor, to the member who asks, or to the address that an API key names.

    Its subject is marked. Copies are left out, links to unsubscribe change nothing, and no person gets a message.
    """
    to = email_tests.choose_address(call.caller, body.to)
    content, variables = await _render_unsaved(call, StepType.EMAIL, body)
    integration = await email_tests.choose_integration(call, body.integration_id, variables)
    return await email_tests.send_test_email(call, content, integration, to)


async def _render_unsaved(
    call: DetachedCall, step_type: StepType, body: UnsavedPreviewIn | TestEmailIn
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the rendered content of a step, and the variables that were used."""
    values, _ = take_out_steps(body.control_values or {}) if step_type is StepType.BRANCH else (body.control_values, ())
    variables = await find_variables(call, body, None)
    if body.workflow_id is not None:
        find = partial(store.get_workflow, environment_id=call.environment_id, reference=body.workflow_id)
        owner = translated(await call.database.read(find))
        variables[TEXTS] = await call.database.read(partial(find_texts, owner=owner, locale=variables["locale"]))
    return await _render(call, step_type, values or {}, variables, body.payload_schema), variables


async def _render(
    call: DetachedCall,
    step_type: StepType,
    values: dict[str, Any],
    variables: Mapping[str, Any],
    schema: dict[str, Any] | None,
) -> dict[str, Any]:
    find = partial(find_previewed_layout, environment_id=call.environment_id, step_type=step_type, controls=values)
    layout = await call.database.read(partial(find, locale=variables["locale"]))
    return await asyncio.to_thread(render_preview, step_type, values, variables, schema, layout)


async def find_variables(
    call: DetachedCall, body: PreviewIn, workflow: Workflow | None, *, has_secrets: bool = False
) -> dict[str, Any]:
    """The variables that are given, and what the environment has where they are not."""
    given_values: dict[str, Any] = plain_value(body.preview_payload or PreviewPayloadIn())
    content = await call.database.read(
        partial(find_environment_content, environment_id=call.caller.environment_id, vault=call.services.vault)
    )
    locale = given_values["subscriber"].get("locale") or content.default_locale
    links = make_sample_links(
        call.services.settings.public_url, is_critical=workflow is not None and workflow.is_critical
    )
    known = {} if workflow is None else workflow_variables(workflow)
    env = content.env if has_secrets else content.masked_env
    defaults = {"workflow": known, "step": digest_variables(None), "env": env, "locale": locale}
    return defaults | links | given_values
