"""Overrides of a trigger: which of them are for a provider, and how they go into its request."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.vocabulary import Channel

CUSTOM_DATA = "customData"
PASSTHROUGH = "_passthrough"
# Options that the engine reads before a provider is called.
_READ_BY_ENGINE = {
    Channel.EMAIL: frozenset({"integrationIdentifier", "layoutIdentifier", "toRecipient"}),
    Channel.SMS: frozenset({"integrationIdentifier"}),
    Channel.PUSH: frozenset({"deviceTokens", "tokens"}),
}
# Never part of a request, and why they have no effect in a channel whose options they are not.
_NOT_FOR_PROVIDERS = {
    "integrationIdentifier": "the integration is chosen by the subscriber's credentials",
    "layoutId": "is read in steps.{stepId} and in channels.email",
    "layoutIdentifier": "is an option of e-mails",
    "toRecipient": "is an option of e-mails",
    CUSTOM_DATA: "is not read; put its members beside it",
    "webhookUrl": "is set only by the subscriber's credentials or the integration",
    "hmacSecretKey": "is set only by the integration",
    "deviceTokens": "is an option of push messages",
    "tokens": "is an option of push messages",
}
_PASSED = frozenset({"body", "headers", "query"})
Casing = Callable[[str], str]


def channel_overrides(overrides: Mapping[str, Any], channel: Channel) -> dict[str, object]:
    found = overrides.get(channel)
    return found if isinstance(found, dict) else {}


def provider_overrides(
    overrides: Mapping[str, Any], channel: Channel, provider_id: str, step_id: str | None
) -> dict[str, object]:
    """Merge what the trigger wants of the provider: the step's overrides win, then the provider's."""
    if not overrides:
        return {}
    step = None if step_id is None else _member(overrides.get("steps"), step_id)
    layers = [
        channel_overrides(overrides, channel),
        overrides.get(provider_id),
        _member(overrides.get("providers"), provider_id),
        _member(_member(step, "providers"), provider_id),
    ]
    merged: dict[str, object] = {}
    for layer in layers:
        if isinstance(layer, dict):
            merged |= layer
    return merged


def with_options(options: dict[str, object] | None, overrides: dict[str, object]) -> dict[str, object]:
    """Return what the step says, and what the trigger says instead."""
    if not options:
        return overrides
    merged = options | overrides
    if "<" in str(overrides.get("from", "")) and "senderName" not in overrides:
        # The trigger names the sender together with the address.
        merged.pop("senderName", None)
    files, others = options.get("attachments"), overrides.get("attachments")
    if isinstance(files, list) and isinstance(others, list):
        merged["attachments"] = [*files, *others]
    ours, theirs = options.get("headers"), overrides.get("headers")
    if isinstance(ours, dict) and isinstance(theirs, dict):
        merged["headers"] = _merge_headers(ours, theirs)
    return merged


class Passthrough(NamedTuple):
    """Parts of a request that a trigger gives in the provider's own format."""

    body: Mapping[str, Any]
    headers: Mapping[str, str]
    query: Mapping[str, Any]


def read_passthrough(overrides: Mapping[str, Any]) -> Passthrough:
    given = overrides.get(PASSTHROUGH)
    if not isinstance(given, Mapping):
        return _NOTHING
    headers = {str(name): str(value) for name, value in _mapping(given.get("headers")).items()}
    return Passthrough(_mapping(given.get("body")), headers, _mapping(given.get("query")))


def extras(overrides: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """Return the overrides that are fields of the provider rather than of our message."""
    return {
        name: value
        for name, value in overrides.items()
        if name not in known and name not in _NOT_FOR_PROVIDERS and name != PASSTHROUGH
    }


def list_not_passed(overrides: Mapping[str, Any], channel: Channel) -> dict[str, str]:
    """Return the overrides that no provider of the channel gets and the engine does not read, and why, by name."""
    read = _READ_BY_ENGINE.get(channel, frozenset())
    ignored = {name: _NOT_FOR_PROVIDERS[name] for name in overrides if name in _NOT_FOR_PROVIDERS and name not in read}
    passed = overrides.get(PASSTHROUGH)
    if isinstance(passed, Mapping):
        ignored |= {
            f"{PASSTHROUGH}.{name}": "only body, headers and query are passed" for name in passed.keys() - _PASSED
        }
    elif passed is not None:
        ignored[PASSTHROUGH] = "must be an object with body, headers or query"
    return ignored


def read_text(overrides: Mapping[str, Any], name: str) -> str | None:
    """Return an override that is a text, None if it is absent or empty; raises SendFailure if it is something else."""
    value = overrides.get(name)
    if value is None or isinstance(value, str):
        return value or None
    raise SendFailure(FailureKind.PERMANENT, f"The override '{name}' must be a text")


def recase(fields: Mapping[str, Any], casing: Casing) -> dict[str, Any]:
    """Rename the fields to the provider's casing; nested names are data and stay as they are."""
    return {casing(name): value for name, value in fields.items()}


def rename_members(**names: str) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return a function that picks these members of `customData`, and renames them to overrides of the provider."""
    return lambda given: {new: given[old] for old, new in names.items() if old in given}


def deep_merge(base: Any, added: Any) -> Any:
    """Merge objects recursively and concatenate lists; any other added value replaces the base value."""
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


@lru_cache(maxsize=4_096)
def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def pascal(name: str) -> str:
    return name[:1].upper() + name[1:]


def _merge_headers(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    """Merge headers, whose names are compared without case."""
    given = {name.lower() for name in theirs}
    return {name: value for name, value in ours.items() if name.lower() not in given} | theirs


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


_NOTHING = Passthrough({}, {}, {})
