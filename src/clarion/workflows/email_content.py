"""The content of an e-mail: subject, body and what the step says about sender, copies and headers."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from clarion.providers.email.addresses import find_address_problem, split_addresses
from clarion.providers.email.message import can_set_header
from clarion.workflows.content import ContentProblem, render_control
from clarion.workflows.controls import EditorType, EmailControls, EmailSender

EmailOptions = dict[str, Any]
"""What a step says about an e-mail beyond subject and body, under the names that overrides of a trigger have."""

BLOCK_DOCUMENT = "is a document of the block editor, which cannot be sent yet; give it as HTML, with editorType 'html'"
_BLOCK_DOCUMENT_START = re.compile(r'\s*\{\s*"type"\s*:\s*"doc"')


def render_subject(controls: EmailControls, variables: Mapping[str, Any]) -> str:
    return render_control("subject", controls.subject or "", variables)


def render_body(controls: EmailControls, variables: Mapping[str, Any]) -> str:
    """Render the body with escaped values; raises ContentProblem for a document of the block editor."""
    if is_block_document(controls):
        raise ContentProblem("body", BLOCK_DOCUMENT)
    return render_control("body", controls.body or "", variables, html=True)


def is_block_document(controls: EmailControls) -> bool:
    """Return whether the body is JSON of the block editor, whatever the step calls it."""
    body = controls.body or ""
    if not body.lstrip().startswith(("{", "[")):
        return False
    if _BLOCK_DOCUMENT_START.match(body):
        return True
    try:
        document = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return False
    is_document = isinstance(document, dict) and document.get("type") == "doc"
    return is_document or (controls.editor_type is EditorType.BLOCK and isinstance(document, dict | list))


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
