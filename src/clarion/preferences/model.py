"""Who decides whether a channel is on: four layers, and one pure function over them."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from clarion.vocabulary import Channel
from clarion.workflows.model import PreferenceLayer, Workflow


class Layer(StrEnum):
    """The layers from the weakest to the strongest."""

    WORKFLOW_DEFAULT = "workflow default"
    WORKFLOW_OVERRIDE = "workflow override"
    SUBSCRIBER_GLOBAL = "subscriber global"
    SUBSCRIBER_WORKFLOW = "subscriber workflow"


class Source(StrEnum):
    """How the API names the side that a layer belongs to."""

    SUBSCRIBER = "subscriber"
    TEMPLATE = "template"
    WORKFLOW_OVERRIDE = "workflowOverride"


SOURCES = {
    Layer.WORKFLOW_DEFAULT: Source.TEMPLATE,
    Layer.WORKFLOW_OVERRIDE: Source.WORKFLOW_OVERRIDE,
    Layer.SUBSCRIBER_GLOBAL: Source.SUBSCRIBER,
    Layer.SUBSCRIBER_WORKFLOW: Source.SUBSCRIBER,
}


class ChannelDecision(Struct, frozen=True):
    """Whether a channel is on, and the layer that said so (None where nobody set anything)."""

    enabled: bool
    layer: Layer | None


class PreferenceDecision(Struct, frozen=True):
    """The outcome for one person and one workflow."""

    enabled: bool
    """False only when a main switch is off and nothing above it turned a channel on again."""
    channels: dict[Channel, ChannelDecision]


Layers = Sequence[tuple[Layer, PreferenceLayer | None]]
"""From the strongest to the weakest."""

_NOBODY = ChannelDecision(enabled=True, layer=None)


def decide_preference(layers: Layers, channels: Sequence[Channel]) -> PreferenceDecision:
    """Resolve each of the channels."""
    verdicts = {channel: decide_channel(layers, channel) for channel in channels}
    spoken = (layer.all.enabled for _, layer in layers if layer is not None)
    main = next((enabled for enabled in spoken if enabled is not None), True)
    return PreferenceDecision(enabled=main or any(verdict.enabled for verdict in verdicts.values()), channels=verdicts)


def decide_channel(layers: Layers, channel: Channel) -> ChannelDecision:
    """The strongest layer that says anything about the channel decides, on where none does.

    A layer speaks about a channel by its own switch, or else by its main switch.
    """
    for name, layer in layers:
        if layer is None:
            continue
        if channel in layer.channels:
            return ChannelDecision(layer.channels[channel].enabled, name)
        if layer.all.enabled is not None:
            return ChannelDecision(layer.all.enabled, name)
    return _NOBODY


def layers_of(
    workflow: Workflow, subscriber_global: PreferenceLayer | None, subscriber_workflow: PreferenceLayer | None
) -> Layers:
    """The layers that count for a workflow: a critical one does not listen to the person."""
    own = (
        (Layer.WORKFLOW_OVERRIDE, workflow.user_preference),
        (Layer.WORKFLOW_DEFAULT, workflow.default_preference),
    )
    if workflow.is_critical:
        return own
    return ((Layer.SUBSCRIBER_WORKFLOW, subscriber_workflow), (Layer.SUBSCRIBER_GLOBAL, subscriber_global), *own)
