"""New content of a message that exists: fields that are left out stay as they are."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from clarion.jsontext import json_text
from clarion.messages.changes import ChangedMessage
from clarion.vocabulary import Channel
from clarion.workflows.content import make_button, make_link
from clarion.workflows.controls import Action, Redirect

FIELDS: Mapping[Channel, frozenset[str]] = {
    Channel.IN_APP: frozenset({"subject", "body", "avatar", "primary_action", "secondary_action", "redirect", "data"}),
    Channel.CHAT: frozenset({"body"}),
    Channel.PUSH: frozenset({"title", "body", "data"}),
}
"""What can be changed of messages of a channel; the others cannot be changed."""


class NewContent(Struct, frozen=True, kw_only=True):
    """What is to be different; None removes a field."""

    subject: str | UnsetType | None = UNSET
    title: str | UnsetType | None = UNSET
    body: str | UnsetType = UNSET
    avatar: str | UnsetType | None = UNSET
    primary_action: Action | UnsetType | None = UNSET
    secondary_action: Action | UnsetType | None = UNSET
    redirect: Redirect | UnsetType | None = UNSET
    data: dict[str, Any] | UnsetType | None = UNSET

    @property
    def given(self) -> dict[str, Any]:
        """The fields that are to be different."""
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: value for name, value in values.items() if value is not UNSET}


def make_columns(message: ChangedMessage, content: NewContent) -> dict[str, Any]:
    """The columns of a message that new content changes; fields that its channel does not have are left out."""
    given = {name: value for name, value in content.given.items() if name in FIELDS.get(message.channel, ())}
    columns: dict[str, Any] = {name: given[name] for name in ("subject", "title", "avatar") if name in given}
    if "body" in given:
        columns["content"] = given["body"]
    if "data" in given:
        columns["data"] = None if given["data"] is None else json_text(given["data"])
    if not _IN_CTA.isdisjoint(given):
        columns["cta"] = json_text(_change_cta(message.cta or {}, given))
    return columns


_BUTTONS = {"primary": "primary_action", "secondary": "secondary_action"}
_IN_CTA = frozenset({*_BUTTONS.values(), "redirect"})


def _change_cta(cta: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    action = dict(cta.get("action") or {})
    buttons = {button.get("type"): button for button in action.get("buttons", ())}
    for kind, name in _BUTTONS.items():
        if name in given:
            buttons.pop(kind, None)
            if given[name] is not None and given[name].label:
                buttons[kind] = make_button(kind, given[name])
            if (action.get("result") or {}).get("type") == kind:
                # What was done with the former button says nothing of the new one.
                action = {key: value for key, value in action.items() if key not in ("status", "result")}
    changed = dict(cta) | {"action": action | {"buttons": [buttons[kind] for kind in _BUTTONS if kind in buttons]}}
    if "redirect" in given:
        changed = {name: value for name, value in changed.items() if name not in ("type", "data")}
        changed |= {} if given["redirect"] is None else make_link(given["redirect"])
    return changed
