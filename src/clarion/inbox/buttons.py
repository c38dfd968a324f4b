"""Shapes of the buttons and the link of a notification, read from what is stored of them."""

import functools
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from clarion.http.wire import Wire, given, one_of
from clarion.workflows.controls import Target

_MAX_CACHED_TEXT = 2_000


class RedirectOut(Wire):
    url: str
    """Where the link leads: a URL, or a path of the page with the inbox."""
    target: Annotated[str, one_of(Target)] | UnsetType = UNSET
    """Where the link opens, as the `target` of an HTML link."""


class ButtonOut(Wire):
    label: str
    """The text of the button."""
    is_completed: bool
    """Whether the action of the button was marked as completed."""
    redirect: RedirectOut | UnsetType = UNSET
    """Where a click leads."""


Actions = tuple[ButtonOut | UnsetType, ButtonOut | UnsetType, RedirectOut | UnsetType]
"""The primary button, the secondary button, and where a click on the message leads."""
NO_ACTIONS: Actions = (UNSET, UNSET, UNSET)


class _StoredButton(Struct, frozen=True):
    type: Literal["primary", "secondary"]
    content: str
    url: str | None = None
    target: str | None = None


class _StoredResult(Struct, frozen=True):
    type: str | None = None


class _StoredAction(Struct, frozen=True):
    buttons: list[_StoredButton] = []
    status: str | None = None
    result: _StoredResult | None = None


class _StoredLink(Struct, frozen=True):
    url: str | None = None
    target: str | None = None


class _StoredCta(Struct, frozen=True):
    """The buttons and the link of a message, as they are stored."""

    action: _StoredAction = _StoredAction()
    data: _StoredLink = _StoredLink()


_decode_cta = msgspec.json.Decoder(_StoredCta).decode


def read_actions(text: str) -> Actions:
    return _make_actions_cached(text) if len(text) <= _MAX_CACHED_TEXT else _make_actions(text)


def _make_actions(text: str) -> Actions:
    cta = _decode_cta(text)
    action = cta.action
    done = action.result.type if action.status == "done" and action.result is not None else None
    buttons = {
        one.type: ButtonOut(label=one.content, is_completed=one.type == done, redirect=_redirect(one.url, one.target))
        for one in action.buttons
    }
    redirect = _redirect(cta.data.url, cta.data.target)
    return buttons.get("primary", UNSET), buttons.get("secondary", UNSET), redirect


# The same messages are shown whenever an inbox is opened.
_make_actions_cached = functools.lru_cache(maxsize=2048)(_make_actions)


def _redirect(url: str | None, target: str | None) -> RedirectOut | UnsetType:
    return RedirectOut(url=url, target=given(target)) if url else UNSET
