"""The content of a step as it is sent: e-mail, in-app messages, and single texts; previews show the same."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from clarion.content.email.compose import EmailProblem, LayoutSource, compile_email, render_email
from clarion.http.wire import Wire
from clarion.providers.email.addresses import find_address_problem, split_addresses
from clarion.providers.email.message import can_set_header
from clarion.templates import TemplateProblem, has_markup, is_script_link, render_value, sanitize_text
from clarion.workflows.controls import (
    Action,
    ControlsProblem,
    EmailControls,
    EmailSender,
    InAppControls,
    Redirect,
)

ValueT = TypeVar("ValueT")

EmailOptions = dict[str, Any]
"""What a step says about an e-mail beyond subject and body, under the names that overrides of a trigger have."""


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


def render_subject(controls: EmailControls, variables: Mapping[str, Any]) -> str:
    return render_control("subject", controls.subject or "", variables)


def render_body(
    controls: EmailControls,
    variables: Mapping[str, Any],
    layout: LayoutSource | None = None,
    layout_variables: Mapping[str, Any] | None = None,
    title: str = "",
) -> str:
    """Render the body in its layout, with escaped values; raises ContentProblem. The title is the rendered subject."""
    try:
        compiled = compile_email(controls.body or "", controls.editor_type, layout)
        return render_email(compiled, variables, layout_variables, title)
    except EmailProblem as problem:
        raise ContentProblem(problem.path, problem.reason) from None
    except TemplateProblem as problem:
        raise ContentProblem("body", f"cannot be rendered: {problem}") from None


def render_options(controls: EmailControls, variables: Mapping[str, Any]) -> EmailOptions | None:
    """Render sender, copies, headers and preheader; None if the step has none of them.

    What is rendered empty counts as absent. Raises ContentProblem for what is no address, or no header to be set.
    """
    options: EmailOptions = dict(_sender_options(controls, variables))
    for name, value in (("replyTo", controls.reply_to), ("cc", controls.cc), ("bcc", controls.bcc)):
        if value:
            options[name] = _addresses(name, value, variables)
    if controls.headers:
        options["headers"] = dict(_headers(controls.headers, variables))
    if controls.preheader:
        options["preheader"] = render_control("preheader", controls.preheader, variables)
    return {name: value for name, value in options.items() if value} or None


def list_written_addresses(controls: EmailControls) -> Iterator[tuple[str, str]]:
    """Yield the paths and texts of all addresses in the controls, as they are written there."""
    sender = controls.sender
    address = sender.email if isinstance(sender, EmailSender) else sender
    if address:
        yield _sender_path(controls), address
    for name, value in (("replyTo", controls.reply_to), ("cc", controls.cc), ("bcc", controls.bcc)):
        for text in split_addresses(value or []) or ():
            yield name, text.strip()


def _sender_options(controls: EmailControls, variables: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if controls.use_provider_defaults:
        return
    sender = controls.sender if isinstance(controls.sender, EmailSender) else EmailSender(email=controls.sender)
    if sender.email:
        path = _sender_path(controls)
        address = render_control(path, sender.email, variables).strip()
        yield "from", _checked(path, address) if address else ""
    if name := sender.name or controls.sender_name:
        path = "from.name" if sender.name else "senderName"
        yield "senderName", render_control(path, name, variables).strip()


def _sender_path(controls: EmailControls) -> str:
    return "from.email" if isinstance(controls.sender, EmailSender) else "from"


def _addresses(path: str, value: str | list[str], variables: Mapping[str, Any]) -> list[str]:
    rendered = render_control(path, [value] if isinstance(value, str) else value, variables)
    texts = (text.strip() for one in rendered for text in split_addresses(one) or ())
    return [_checked(path, text) for text in texts if text]


def _checked(path: str, address: str) -> str:
    problem = find_address_problem(address)
    if problem is not None:
        raise ContentProblem(path, f"'{address}' {problem}")
    return address


def _headers(headers: Mapping[str, str], variables: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in headers.items():
        if not can_set_header(name):
            raise ContentProblem(f"headers.{name}", "cannot be set; remove it, or use the control of the same meaning")
        yield name, render_control(f"headers.{name}", value, variables)


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


def make_cta(content: InAppContent) -> dict[str, Any]:
    """The buttons and the link of a message, as they are stored."""
    actions = (("primary", content.primary_action), ("secondary", content.secondary_action))
    buttons = [make_button(kind, action) for kind, action in actions if action is not None and action.label]
    cta: dict[str, Any] = {"action": {"buttons": buttons}}
    return cta if content.redirect is None else cta | make_link(content.redirect)


def make_button(kind: str, action: Action) -> dict[str, Any]:
    button = {"type": kind, "content": action.label} | ({"answer": action.answer} if action.answer else {})
    return button | (_link_data(action.redirect) if action.redirect else {})


def make_link(redirect: Redirect) -> dict[str, Any]:
    return {"type": "redirect", "data": _link_data(redirect)}


def _link_data(redirect: Redirect) -> dict[str, Any]:
    return {"url": redirect.url, "target": redirect.target or "_self"}


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
        redirect = self.redirect(f"{path}.redirect", action.redirect)
        return Action(label=label, redirect=redirect, answer=action.answer)

    def redirect(self, path: str, redirect: Redirect | None) -> Redirect | None:
        if redirect is None:
            return None
        is_template = has_markup(redirect.url)
        url = render_control(f"{path}.url", redirect.url, self._variables) if is_template else redirect.url
        if is_script_link(url):
            self.refused.append(f"{path}.url")
            return None
        return Redirect(url=url, target=redirect.target) if is_template else redirect
