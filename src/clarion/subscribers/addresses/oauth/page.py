"""The pages of an attempt: one asks whether to connect, one says what happened, and closes its window."""

import base64
import hashlib
from html import escape
from typing import Final
from urllib.parse import quote, urlsplit

from clarion.http.static import Header
from clarion.subscribers.addresses.oauth.confirmation import Question
from clarion.subscribers.addresses.oauth.model import CONFIRM_PATH

_STYLE: Final = (
    ":root{color-scheme:light dark}body{font:1.0625rem/1.5 system-ui,sans-serif;margin:0;padding:2rem 1rem;"
    "background:Canvas;color:CanvasText}main{max-width:34rem;margin:0 auto;overflow-wrap:anywhere}h1{font-size:1.5rem}"
    "button{font:inherit;font-weight:600;padding:.625rem 1.25rem;border-radius:.5rem;border:1px solid;"
    "background:CanvasText;color:Canvas;cursor:pointer}"
)
_SCRIPT: Final = "window.close();"
_CONFIRM: Final = CONFIRM_PATH.rpartition("/")[2]
"""Beside the address of the page, whatever stands before its path in public."""


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def make_headers(form_targets: str) -> tuple[Header, ...]:
    """The headers of a page whose form may lead to these targets."""
    policy = (
        f"default-src 'none'; style-src 'sha256-{_hash(_STYLE)}'; script-src 'sha256-{_hash(_SCRIPT)}'; "
        f"form-action {form_targets}; base-uri 'none'; frame-ancestors 'none'"
    )
    return (
        (b"content-security-policy", policy.encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
    )


def list_form_targets(question: Question) -> str:
    """Where the form of a question leads to: browsers check the redirect that follows, too."""
    if question.target is None:
        return "'self'"
    parts = urlsplit(question.target)
    # Nothing of a stored address may end the list and begin another rule.
    return f"'self' {parts.scheme}://{quote(parts.netloc.rpartition('@')[2], safe='.-:[]')}"


def render_question(question: Question) -> str:
    """Say whose messages will go where, and ask whether that is meant."""
    workspace, owner = f"<b>{escape(question.workspace)}</b>", f"<b>{escape(question.owner)}</b>"
    place = f"your account in {workspace}" if question.links_account else workspace
    return _render_page(
        f"Connect {question.vendor}?",
        f"<p>Messages for {owner} will be sent to {place}.</p>\n"
        "<p>Go on only if you began this yourself. If somebody sent you here, close this window: "
        "nothing is connected then.</p>\n"
        f'<form method="post" action="{_CONFIRM}">\n'
        f'<input type="hidden" name="grant" value="{escape(question.sealed)}">\n<button>Connect</button>\n</form>\n',
    )


def render_success(note: str = "") -> str:
    """Without a way to close the window, the text is left; a note stays until it was read."""
    return _render("Connected", note or "You can close this window.", "" if note else f"<script>{_SCRIPT}</script>")


def render_problem(message: str) -> str:
    return _render("Not connected", message, "")


def _render(title: str, message: str, script: str) -> str:
    return _render_page(title, f"<p>{escape(message)}</p>\n", script)


def _render_page(title: str, content: str, script: str = "") -> str:
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{escape(title)}</h1>\n{content}"
        f"</main>\n{script}</body>\n</html>\n"
    )
