"""Previews of layouts: rendered around a box, by the functions that render what is sent."""

from collections.abc import Mapping
from typing import Any, Final

from clarion.content.email.compose import LayoutSource
from clarion.content.layouts.validation import find_issues
from clarion.work import WorkBudget, spending
from clarion.workflows.content import ContentProblem, render_body
from clarion.workflows.controls import EmailControls
from clarion.workflows.issues import Issue, IssueType

PLACEHOLDER: Final = (
    '<div style="padding:24px;border:1px dashed #8a8f98;text-align:center;color:#5f6670">'
    "Dynamic placeholder content</div>"
)
"""Where the content of e-mails stands."""
_CONTENT: Final = EmailControls(body=PLACEHOLDER)


def render_layout(source: LayoutSource | None, variables: Mapping[str, Any]) -> tuple[str | None, list[Issue]]:
    """Return what is rendered, or None with the reasons why it cannot be."""
    issues = [] if source is None else find_issues(source)
    if issues:
        return None, issues
    try:
        with spending(WorkBudget()):
            return render_body(_CONTENT, variables, source), []
    except ContentProblem as problem:
        return None, [Issue("email.body", IssueType.UNSUPPORTED_PROPERTY, f"{problem.path} {problem.reason}")]
