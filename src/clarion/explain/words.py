"""How explanations name people, channels, moments and lengths of time."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from clarion.clock import Millis, iso_text
from clarion.subscribers.model import Subscriber
from clarion.vocabulary import Channel, StepType

CHANNEL_WORDS = {
    Channel.IN_APP: "in-app",
    Channel.EMAIL: "email",
    Channel.SMS: "SMS",
    Channel.CHAT: "chat",
    Channel.PUSH: "push",
}
STEP_WORDS = {
    **{StepType(channel.value): word for channel, word in CHANNEL_WORDS.items()},
    StepType.DIGEST: "digest",
    StepType.DELAY: "delay",
    StepType.THROTTLE: "throttle",
    StepType.CUSTOM: "custom",
    StepType.TRIGGER: "trigger",
}
_MAX_LISTED = 3


def find_channel(kind: StepType) -> Channel | None:
    """The channel of a step, if it has one."""
    return Channel(kind.value) if kind.value in list(Channel) else None


def name_of(person: Subscriber | None, key: str) -> str:
    """The first name of a person, or what there is instead."""
    if person is None:
        return f"'{key}'"
    return person.first_name or person.last_name or f"'{person.key}'"


def day_text(moment: Millis, now: Millis) -> str:
    """A day such as "3 May", with the year where it is another one."""
    found, current = _utc(moment), _utc(now)
    text = f"{found.day} {found:%B}"
    return text if found.year == current.year else f"{text} {found.year}"


def moment_text(moment: Millis, now: Millis) -> str:
    """A moment such as "3 May at 14:05 UTC"."""
    return f"{day_text(moment, now)} at {_utc(moment):%H:%M} UTC"


def length_text(amount: Any, unit: Any) -> str:
    """A length of time such as "1 hour"."""
    number = int(amount) if isinstance(amount, float) and amount.is_integer() else amount
    return f"{number} {str(unit).removesuffix('s') if number == 1 else unit}"


def list_text(items: Iterable[str]) -> str:
    """Some of the items, and how many there are beside these."""
    found = list(items)
    shown = ", ".join(found[:_MAX_LISTED])
    return shown if len(found) <= _MAX_LISTED else f"{shown} and {len(found) - _MAX_LISTED} more"


def with_moments(values: dict[str, Any], *names: str) -> dict[str, Any]:
    """The values with the named moments as ISO 8601, as the API writes them."""
    return values | {name: iso_text(values[name]) for name in names if isinstance(values.get(name), int)}


def sentence(text: str) -> str:
    """A text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


def _utc(moment: Millis) -> datetime:
    return datetime.fromtimestamp(moment / 1000, UTC)
