"""What a trigger adds to a provider's request: overrides by the names of the API, and raw passthrough."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

# Words to the engine, and where a message goes, which is the subscriber's to say and never a trigger's.
_NOT_FOR_PROVIDERS = frozenset(
    {
        *("_passthrough", "integrationIdentifier", "layoutId", "layoutIdentifier", "toRecipient", "customData"),
        *("webhookUrl", "hmacSecretKey", "deviceTokens", "tokens"),
    }
)

Casing = Callable[[str], str]


class Passthrough(NamedTuple):
    """Parts of a request that a trigger spells exactly as the provider wants them."""

    body: Mapping[str, Any]
    headers: Mapping[str, str]
    query: Mapping[str, Any]


def read_passthrough(overrides: Mapping[str, Any]) -> Passthrough:
    given = overrides.get("_passthrough")
    if not isinstance(given, Mapping):
        return _NOTHING
    headers = {str(name): str(value) for name, value in _mapping(given.get("headers")).items()}
    return Passthrough(_mapping(given.get("body")), headers, _mapping(given.get("query")))


def extras(overrides: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """The overrides that the message itself does not understand: fields of the provider's own."""
    return {name: value for name, value in overrides.items() if name not in known and name not in _NOT_FOR_PROVIDERS}


def recase(fields: Mapping[str, Any], casing: Casing) -> dict[str, Any]:
    """The fields under the provider's spelling; what is inside of them is data and stays as it is."""
    return {casing(name): value for name, value in fields.items()}


def deep_merge(base: Any, added: Any) -> Any:
    """Objects are joined member by member and lists are appended; of anything else the added one stays."""
    if isinstance(base, Mapping) and isinstance(added, Mapping):
        merged = dict(base)
        for name, value in added.items():
            merged[name] = deep_merge(base[name], value) if name in base else value
        return merged
    if isinstance(base, list | tuple) and isinstance(added, list | tuple):
        return [*base, *added]
    return added


def as_given(name: str) -> str:
    return name


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def pascal(name: str) -> str:
    return name[:1].upper() + name[1:]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


_NOTHING = Passthrough({}, {}, {})
