"""What a step would say to someone, before anyone is told."""

from collections.abc import Mapping
from typing import Any

from clarion.errors import Invalid, Problem
from clarion.templates import TemplateProblem, render_value
from clarion.vocabulary import StepType
from clarion.workflows.controls import EditorType, check_controls
from clarion.workflows.model import Step

_SHOWN: dict[StepType, tuple[str, ...]] = {
    StepType.IN_APP: ("subject", "body", "avatar", "primaryAction", "secondaryAction", "redirect", "data"),
    StepType.EMAIL: ("subject", "body"),
    StepType.SMS: ("body",),
    StepType.CHAT: ("body",),
    StepType.PUSH: ("subject", "body", "data"),
}
# Members that clients require of a preview even where the step lacks them.
_ALWAYS: dict[StepType, tuple[str, ...]] = {
    StepType.IN_APP: ("body",),
    StepType.EMAIL: ("subject", "body"),
    StepType.SMS: ("body",),
    StepType.PUSH: ("subject", "body"),
}


def render_preview(step: Step, controls: dict[str, Any] | None, variables: Mapping[str, Any]) -> dict[str, Any]:
    """The step's controls, or those to try instead, with their texts rendered."""
    values = step.controls if controls is None else controls
    problems = {f"controlValues.{path}": [Problem(message)] for path, message in check_controls(step.type, values)}
    if problems:
        raise Invalid(problems)
    if step.type is StepType.CUSTOM:
        return values
    names = _SHOWN.get(step.type, tuple(name for name in values if name != "skip"))
    rendered = {
        name: _render(name, values[name], variables, html=_is_html(step.type, name, values))
        for name in names
        if values.get(name) is not None
    }
    return dict.fromkeys(_ALWAYS.get(step.type, ()), "") | rendered


def _render(name: str, value: Any, variables: Mapping[str, Any], *, html: bool) -> Any:
    try:
        return render_value(value, variables, html=html)
    except TemplateProblem as problem:
        raise Invalid.field(f"controlValues.{name}", f"cannot be rendered: {problem}") from None


def _is_html(step_type: StepType, name: str, values: Mapping[str, Any]) -> bool:
    return step_type is StepType.EMAIL and name == "body" and values.get("editorType") != EditorType.BLOCK
