"""Overrides of chat and tool steps: what is merged into the requests to each provider of the channel."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import UnsetType

from clarion.providers.definition.provider import Provider
from clarion.providers.registry import PROVIDERS
from clarion.vocabulary import Channel, StepType, suggestion
from clarion.workflows.control_checks import list_text_problems, texts_of
from clarion.workflows.flatten import StepProblem
from clarion.workflows.model import Step
from clarion.workflows.step_wire import StepIn

_CHANNELS: Final = {StepType.CHAT: Channel.CHAT, StepType.TOOL: Channel.TOOL}


def list_override_problems(step: StepIn, path: str) -> Iterator[StepProblem]:
    """Yield what keeps overrides from being saved; `path` is theirs in the body."""
    given = step.provider_overrides
    if isinstance(given, UnsetType) or not given:
        return
    channel = _CHANNELS.get(step.step_type)
    if channel is None:
        yield path, "is for steps of the types chat and tool", None
        return
    known = {name: provider for name, provider in PROVIDERS.items() if provider.channel is channel}
    for provider_id, overrides in given.items():
        provider = known.get(provider_id)
        if provider is None:
            yield f"{path}.{provider_id}", f"is no {channel} provider{suggestion(provider_id, known)}", None
        else:
            yield from _list_ignored(provider, overrides, f"{path}.{provider_id}")
    yield from ((where, message, None) for where, message in list_text_problems(texts_of(given, path)))


def _list_ignored(provider: Provider, overrides: Mapping[str, Any], path: str) -> Iterator[StepProblem]:
    for name, reason in provider.list_ignored(overrides).items():
        yield f"{path}.{name}", f"has no effect: {reason}", None


def choose_overrides(step: StepIn, known: Step | None) -> dict[str, dict[str, Any]] | None:
    """Return the overrides of a step; one that says nothing about them, as older clients do, keeps its own."""
    given = step.provider_overrides
    if not isinstance(given, UnsetType):
        return given or None
    return known.provider_overrides if known is not None and known.type is step.step_type else None
