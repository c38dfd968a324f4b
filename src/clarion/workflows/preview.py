"""Previews: the rendered content of a step; nothing is sent."""

from collections.abc import Mapping
from typing import Any

from clarion.errors import Invalid, Problem
from clarion.templates import TemplateProblem, render_value
from clarion.vocabulary import StepType
from clarion.workflows.controls import EditorType, check_controls
from clarion.workflows.model import Step

_PREVIEWED: dict[StepType, tuple[str, ...]] = {
    StepType.IN_APP: ("subject", "body", "avatar", "primaryAction", "secondaryAction", "redirect", "data"),
    StepType.EMAIL: ("subject", "body"),
    StepType.SMS: ("body",),
    StepType.CHAT: ("body",),
    StepType.PUSH: ("subject", "body", "data"),
}
# Members that clients require of a preview even if the step lacks them.
_REQUIRED: dict[StepType, tuple[str, ...]] = {
    StepType.IN_APP: ("body",),
    StepType.EMAIL: ("subject", "body"),
    StepType.SMS: ("body",),
    StepType.PUSH: ("subject", "body"),
}


def render_preview(step: Step, controls: dict[str, Any] | None, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Render the texts of the step's controls, or of the given ones instead."""
    values = step.controls if controls is None else controls
    problems = {f"controlValues.{path}": [Problem(message)] for path, message in check_controls(step.type, values)}
    if problems:
        raise Invalid(problems)
    if step.type is StepType.CUSTOM:
        return values
    names = _PREVIEWED.get(step.type, tuple(name for name in values if name != "skip"))
    rendered = {
        name: _render(name, values[name], variables, html=_is_html(step.type, name, values))
        for name in names
        if values.get(name) is not None
    }
    return dict.fromkeys(_REQUIRED.get(step.type, ()), "") | rendered


def _render(name: str, value: Any, variables: Mapping[str, Any], *, html: bool) -> Any:
    try:
        return render_value(value, variables, html=html)
    except TemplateProblem as problem:
        raise Invalid.field(f"controlValues.{name}", f"cannot be rendered: {problem}") from None


def _is_html(step_type: StepType, name: str, values: Mapping[str, Any]) -> bool:
    return step_type is StepType.EMAIL and name == "body" and values.get("editorType") != EditorType.BLOCK
