"""Previews: the rendered content of a step, by the functions that render what is sent; nothing is sent."""

from collections.abc import Mapping
from typing import Any

from clarion.content.layouts.model import PreviewedLayout
from clarion.errors import Invalid, Problem
from clarion.jsontext import plain_value
from clarion.templates.texts import NAME as TEXTS
from clarion.templates.texts import Texts
from clarion.vocabulary import StepType
from clarion.work import WorkBudget, spending
from clarion.workflows.content import (
    ContentProblem,
    render_body,
    render_control,
    render_in_app,
    render_options,
    render_subject,
)
from clarion.workflows.control_checks import check_controls
from clarion.workflows.controls import EmailControls, HttpMethod, HttpRequestControls, InAppControls, read_as
from clarion.workflows.http_requests import choose_variables, render_request
from clarion.workflows.payloads import check_schema, fill_defaults
from clarion.workflows.schema_cost import PayloadTooCostly
from clarion.workflows.schema_examples import make_answer_example
from clarion.workflows.tree import take_out_steps

_PREVIEWED: dict[StepType, tuple[str, ...]] = {
    StepType.SMS: ("body",),
    StepType.CHAT: ("body",),
    StepType.TOOL: ("body",),
    StepType.PUSH: ("subject", "body", "data"),
}
# Members that clients require of a preview even if the step lacks them.
_REQUIRED: dict[StepType, tuple[str, ...]] = {
    StepType.IN_APP: ("body",),
    StepType.EMAIL: ("subject", "body"),
    StepType.SMS: ("body",),
    StepType.PUSH: ("subject", "body"),
}


def render_preview(
    step_type: StepType,
    values: dict[str, Any],
    variables: Mapping[str, Any],
    schema: dict[str, Any] | None,
    layout: PreviewedLayout | None = None,
) -> dict[str, Any]:
    """Render the texts of controls; the payload gets the defaults of the schema, as that of a trigger does."""
    problems = {f"controlValues.{path}": [Problem(message)] for path, message in check_controls(step_type, values)}
    if problems:
        raise Invalid(problems)
    try:
        with spending(WorkBudget()):
            filled = variables if schema is None else _with_defaults(variables, schema)
            rendered = _render(step_type, values, filled, layout)
    except ContentProblem as problem:
        raise Invalid.field(f"controlValues.{problem.path}", problem.reason) from None
    return dict.fromkeys(_REQUIRED.get(step_type, ()), "") | rendered


def _with_defaults(variables: Mapping[str, Any], schema: dict[str, Any]) -> Mapping[str, Any]:
    problem = check_schema(schema)
    if problem is not None:
        raise Invalid.field("payloadSchema", problem)
    try:
        return {**variables, "payload": fill_defaults(schema, variables["payload"])}
    except PayloadTooCostly as costly:
        raise Invalid.field("previewPayload.payload", str(costly)) from None


def _render(
    step_type: StepType, values: dict[str, Any], variables: Mapping[str, Any], layout: PreviewedLayout | None
) -> dict[str, Any]:
    if step_type is StepType.BRANCH:
        # The steps of its paths are previewed one by one.
        values, _ = take_out_steps(values)
    match step_type:
        case StepType.CUSTOM:
            return values
        case StepType.IN_APP:
            return _render_in_app(values, variables)
        case StepType.HTTP_REQUEST:
            return _render_request(values, variables)
        case StepType.EMAIL:
            return _render_email(values, variables, layout)
        case _:
            names = _PREVIEWED.get(step_type, tuple(name for name in values if name != "skip"))
            return {
                name: render_control(name, values[name], variables) for name in names if values.get(name) is not None
            }


def _render_request(values: dict[str, Any], variables: Mapping[str, Any]) -> dict[str, Any]:
    """The request as it would be made, and an example of what later steps would see."""
    controls = read_as(HttpRequestControls, values)
    answer = {"answer": make_answer_example(controls.response_body_schema)}
    if not controls.url:
        return {"method": controls.method or HttpMethod.POST} | answer
    seen = choose_variables(controls, variables)
    request = render_request(controls, seen, seen.get("env", {}))
    shown: dict[str, Any] = {"method": request.method, "url": request.url}
    shown["headers"] = [{"key": name, "value": value} for name, value in request.headers]
    if request.body is not None:
        shown["body"] = request.body
    return shown | answer


def _render_in_app(values: dict[str, Any], variables: Mapping[str, Any]) -> dict[str, Any]:
    content, _ = render_in_app(read_as(InAppControls, values), variables)
    rendered: dict[str, Any] = plain_value(content)
    data = rendered.pop("data")
    # Members of `data` may be null; elsewhere that means absent.
    shown: dict[str, Any] = _without_none(rendered)
    return shown if data is None else shown | {"data": data}


def _render_email(
    values: dict[str, Any], variables: Mapping[str, Any], layout: PreviewedLayout | None
) -> dict[str, Any]:
    """Subject and body, and what the step says about sender, copies and headers, as the provider is given it."""
    controls = read_as(EmailControls, values)
    subject = render_subject(controls, variables)
    own, framed = variables.get(TEXTS), None if layout is None else layout.texts
    source = None if layout is None else layout.source
    frame_variables = None if framed is None else {**variables, TEXTS: framed}
    content = {"subject": subject, "body": render_body(controls, variables, source, frame_variables, title=subject)}
    if isinstance(own, Texts) and framed is not None:
        # The answer names what is missing in either.
        own.missing |= framed.missing
    return content | (render_options(controls, variables) or {})


def _without_none(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _without_none(item) for name, item in value.items() if item is not None}
