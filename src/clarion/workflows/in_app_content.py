"""The content of an in-app message: rendered, without dangerous markup and links."""

from collections.abc import Mapping
from typing import Any

from clarion.http.wire import Wire
from clarion.templates import TemplateProblem, has_markup, is_script_link, sanitize_text
from clarion.workflows.content import ContentProblem, render_control
from clarion.workflows.controls import Action, InAppControls, Redirect


class InAppContent(Wire):
    subject: str | None
    body: str | None
    avatar: str | None
    primary_action: Action | None
    secondary_action: Action | None
    redirect: Redirect | None
    data: dict[str, Any] | None


def render_in_app(controls: InAppControls, variables: Mapping[str, Any]) -> tuple[InAppContent, list[str]]:
    """Return the content, and the paths of links that are left out because they would run code.

    `disableOutputSanitization` leaves all markup in texts; links that run code are left out in any case.
    """
    renderer = _Renderer(variables, sanitizes=not controls.disable_output_sanitization)
    content = InAppContent(
        subject=renderer.text("subject", controls.subject),
        body=renderer.text("body", controls.body),
        avatar=None if controls.avatar is None else render_control("avatar", controls.avatar, variables),
        primary_action=renderer.action("primaryAction", controls.primary_action),
        secondary_action=renderer.action("secondaryAction", controls.secondary_action),
        redirect=renderer.redirect("redirect", controls.redirect),
        data=render_control("data", controls.data, variables) if controls.data else None,
    )
    return content, renderer.refused


class _Renderer:
    def __init__(self, variables: Mapping[str, Any], *, sanitizes: bool) -> None:
        self._variables = variables
        self._sanitizes = sanitizes
        self.refused: list[str] = []

    def text(self, path: str, text: str | None) -> str | None:
        if text is None:
            return None
        rendered = render_control(path, text, self._variables)
        if not self._sanitizes:
            return rendered
        try:
            return sanitize_text(rendered)
        except TemplateProblem as problem:
            raise ContentProblem(path, f"cannot be shown: {problem}") from None

    def action(self, path: str, action: Action | None) -> Action | None:
        if action is None:
            return None
        label = self.text(f"{path}.label", action.label)
        return Action(label=label, redirect=self.redirect(f"{path}.redirect", action.redirect))

    def redirect(self, path: str, redirect: Redirect | None) -> Redirect | None:
        if redirect is None:
            return None
        is_template = has_markup(redirect.url)
        url = render_control(f"{path}.url", redirect.url, self._variables) if is_template else redirect.url
        if is_script_link(url):
            self.refused.append(f"{path}.url")
            return None
        return Redirect(url=url, target=redirect.target) if is_template else redirect
