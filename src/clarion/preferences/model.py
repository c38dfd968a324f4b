"""Who decides whether a channel is on: four layers, and one pure function over them."""

from collections.abc import Iterator, Sequence
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


class Verdict(Struct, frozen=True):
    """Whether a channel is on, and the layer that said so (None where nobody set anything)."""

    enabled: bool
    layer: Layer | None


class Decision(Struct, frozen=True):
    """The outcome for one person and one workflow."""

    enabled: bool
    """False only when a main switch is off and nothing above it turned a channel on again."""
    channels: dict[Channel, Verdict]


Layers = Sequence[tuple[Layer, PreferenceLayer | None]]


def decide_preference(layers: Layers, channels: Sequence[Channel]) -> Decision:
    """Resolve each channel: the strongest layer that says anything about it decides, on where none does.

    A layer speaks about a channel by its own switch, or else by its main switch.
    """
    strongest_first = [(name, layer) for name, layer in reversed(layers) if layer is not None]
    verdicts = {
        channel: next(_spoken(strongest_first, channel), Verdict(enabled=True, layer=None)) for channel in channels
    }
    main = next((layer.all.enabled for _, layer in strongest_first if layer.all.enabled is not None), True)
    return Decision(enabled=main or any(verdict.enabled for verdict in verdicts.values()), channels=verdicts)


def layers_of(
    workflow: Workflow, subscriber_global: PreferenceLayer | None, subscriber_workflow: PreferenceLayer | None
) -> Layers:
    """The layers that count for a workflow: a critical one does not listen to the person."""
    own: Layers = [
        (Layer.WORKFLOW_DEFAULT, workflow.default_preference),
        (Layer.WORKFLOW_OVERRIDE, workflow.user_preference),
    ]
    if workflow.is_critical:
        return own
    return [*own, (Layer.SUBSCRIBER_GLOBAL, subscriber_global), (Layer.SUBSCRIBER_WORKFLOW, subscriber_workflow)]


def _spoken(strongest_first: Sequence[tuple[Layer, PreferenceLayer]], channel: Channel) -> Iterator[Verdict]:
    for name, layer in strongest_first:
        if channel in layer.channels:
            yield Verdict(layer.channels[channel].enabled, name)
        elif layer.all.enabled is not None:
            yield Verdict(layer.all.enabled, name)
