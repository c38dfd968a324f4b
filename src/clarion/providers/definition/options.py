"""Options of a message: what its step asks for, and what the trigger wants of a channel or a provider instead."""

from collections.abc import Mapping
from typing import Any

from clarion.vocabulary import Channel


def channel_overrides(overrides: Mapping[str, Any], channel: Channel) -> dict[str, object]:
    found = overrides.get(channel)
    return found if isinstance(found, dict) else {}


def provider_overrides(
    overrides: Mapping[str, Any], channel: Channel, provider_id: str, step_id: str | None
) -> dict[str, object]:
    """What the trigger wants of the provider: for the step before for the provider before for the channel."""
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


def _merge_headers(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    """Merge headers, whose names are compared without case."""
    given = {name.lower() for name in theirs}
    return {name: value for name, value in ours.items() if name.lower() not in given} | theirs


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None
