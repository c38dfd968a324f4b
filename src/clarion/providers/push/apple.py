"""Apple's notification payload: names as Apple spells them, whether it is sent to Apple, Firebase or Beams.

https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from clarion.providers.definition.overrides import snake

MAX_BYTES = 4_096
MAX_CALL_BYTES = 5_120
"""Of notifications of calls (VoIP)."""

IN_ALERT = frozenset(
    {
        *("title", "subtitle", "body", "launch-image", "title-loc-key", "title-loc-args", "subtitle-loc-key"),
        *("subtitle-loc-args", "loc-key", "loc-args"),
    }
)
IN_APS = frozenset(
    {
        *("alert", "badge", "sound", "thread-id", "category", "content-available", "mutable-content"),
        *("target-content-id", "interruption-level", "relevance-score", "filter-criteria", "stale-date"),
        *("content-state", "timestamp", "event", "dismissal-date", "attributes-type", "url-args"),
    }
)
_NAMES = {
    "category-id": "category",
    "body-loc-key": "loc-key",
    "body-loc-args": "loc-args",
    "target-content-identifier": "target-content-id",
}


@lru_cache(maxsize=4_096)
def apple_name(name: str) -> str:
    """Return the name of an override as Apple spells it: `contentAvailable` is `content-available`."""
    kebab = snake(name).replace("_", "-")
    return _NAMES.get(kebab, kebab)


def write_aps(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return an `aps` with Apple's names and with numbers for booleans; other members stay as they are."""
    aps = _rename(given, IN_APS)
    for name in ("alert", "sound"):
        if isinstance(aps.get(name), Mapping):
            aps[name] = _rename(aps[name], IN_ALERT)
    return aps


def _rename(given: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    return {
        renamed if (renamed := apple_name(name)) in known else name: int(value) if isinstance(value, bool) else value
        for name, value in given.items()
    }
