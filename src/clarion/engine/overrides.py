"""Overrides of a trigger: what it wants of a channel, of a provider, or of a provider in one step."""

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


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None
