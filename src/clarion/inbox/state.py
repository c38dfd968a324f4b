"""What people do with the messages of their inbox: each action returns the message as it is afterwards."""

from typing import Any, Literal

from msgspec.structs import replace

from clarion.clock import HOUR, Millis
from clarion.errors import Invalid, Malformed, NotFound
from clarion.ids import id_text
from clarion.jsontext import json_text, json_value
from clarion.messages.model import MAX_DELIVERIES, MAX_SNOOZE_HOURS, InboxMessage


def mark_read(message: InboxMessage, now: Millis) -> InboxMessage:
    """Read, and no longer archived."""
    if message.read and not message.archived:
        return message
    return replace(_seen_and_read(message, now), archived=False, archived_at=None)


def mark_unread(message: InboxMessage, _now: Millis) -> InboxMessage:
    """Unread, and no longer archived; it stays seen."""
    if not message.read and not message.archived:
        return message
    return replace(message, read=False, read_at=None, archived=False, archived_at=None)


def archive(message: InboxMessage, now: Millis) -> InboxMessage:
    """Archived and read; a snooze ends without the message coming back."""
    if message.archived and message.read and message.snoozed_until is None:
        return message
    archived_at = message.archived_at if message.archived else now
    return replace(_seen_and_read(message, now), archived=True, archived_at=archived_at, snoozed_until=None)


def unarchive(message: InboxMessage, _now: Millis) -> InboxMessage:
    """Back in the inbox, read as before."""
    return replace(message, archived=False, archived_at=None) if message.archived else message


def snooze(message: InboxMessage, now: Millis, *, until: Millis) -> InboxMessage:
    """Hidden until a moment; read or unread as before."""
    if until <= now:
        raise Invalid.field("snoozeUntil", "must be in the future")
    if until > now + MAX_SNOOZE_HOURS * HOUR:
        raise Invalid.field("snoozeUntil", f"must be at most {MAX_SNOOZE_HOURS} hours ahead")
    if message.snoozed_until == until:
        return message
    seen_at = message.seen_at if message.seen else now
    return replace(message, snoozed_until=until, seen=True, seen_at=seen_at, archived=False, archived_at=None)


def unsnooze(message: InboxMessage, _now: Millis) -> InboxMessage:
    """Back in the inbox at its old place, read or unread as before; raises NotFound if it is not snoozed."""
    if message.snoozed_until is None:
        raise NotFound("A snoozed notification", id_text(message.id))
    return replace(message, snoozed_until=None)


def wake(message: InboxMessage, now: Millis) -> InboxMessage:
    """A snooze has ended: delivered once more, as new and unread."""
    # The first delivery and the last ones are shown; a message may be snoozed without end.
    first, *others = message.delivered_at
    delivered_at = [first, *others[2 - MAX_DELIVERIES :], now]
    return replace(message, snoozed_until=None, read=False, read_at=None, created_at=now, delivered_at=delivered_at)


def read_button(text: str) -> Literal["primary", "secondary"]:
    if text == "primary":
        return "primary"
    if text == "secondary":
        return "secondary"
    raise Invalid.field("actionType", "must be one of primary, secondary", text)


def complete_action(
    message: InboxMessage, now: Millis, *, button: str, payload: dict[str, Any] | None = None
) -> InboxMessage:
    """A button was used, which also means that the message was read."""
    return replace(_set_action(message, button, "done", payload), **_read_columns(message, now))


def find_used_button(before: InboxMessage, after: InboxMessage) -> str | None:
    """The button that a change says was used; None if it says nothing of the kind."""
    if before.cta == after.cta:
        return None
    action = (json_value(after.cta) or {}).get("action") or {}
    return action["result"]["type"] if action.get("status") == "done" else None


def revert_action(
    message: InboxMessage, _now: Millis, *, button: str, payload: dict[str, Any] | None = None
) -> InboxMessage:
    """What a button did was undone."""
    return _set_action(message, button, "pending", payload)


def _seen_and_read(message: InboxMessage, now: Millis) -> InboxMessage:
    return replace(message, **_read_columns(message, now))


def _read_columns(message: InboxMessage, now: Millis) -> dict[str, Any]:
    return {
        "seen": True,
        "seen_at": message.seen_at if message.seen else now,
        "read": True,
        "read_at": message.read_at if message.read else now,
    }


def _set_action(message: InboxMessage, button: str, status: str, payload: dict[str, Any] | None) -> InboxMessage:
    cta: dict[str, Any] = json_value(message.cta) or {}
    action = cta.get("action") or {}
    if not any(one.get("type") == button for one in action.get("buttons", ())):
        raise Malformed(f"This notification has no {button} action")
    result = {"type": button} if payload is None else {"type": button, "payload": payload}
    changed = {**cta, "action": {**action, "status": status, "result": result}}
    return replace(message, cta=json_text(changed))
