"""The texts of a step as they are sent; previews show the same."""

from collections.abc import Mapping
from typing import Any, TypeVar

from clarion.templates import TemplateProblem, render_value
from clarion.workflows.controls import ControlsProblem

ValueT = TypeVar("ValueT")


class ContentProblem(ControlsProblem):
    """A control has no content that can be sent; the message names its path."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} {reason}")
        self.path = path
        self.reason = reason


def render_control(path: str, value: ValueT, variables: Mapping[str, Any], *, html: bool = False) -> ValueT:
    """Render one control, or every text in it; raises ContentProblem."""
    try:
        rendered: ValueT = render_value(value, variables, html=html)
    except TemplateProblem as problem:
        raise ContentProblem(path, f"cannot be rendered: {problem}") from None
    return rendered
