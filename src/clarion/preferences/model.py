"""Decides whether a channel is on, from four layers of preferences."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from clarion.ids import id_text
from clarion.topics.model import Subject
from clarion.vocabulary import Channel
from clarion.workflows.model import PreferenceLayer, Workflow


class DecidingLayer(StrEnum):
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
    DecidingLayer.WORKFLOW_DEFAULT: Source.TEMPLATE,
    DecidingLayer.WORKFLOW_OVERRIDE: Source.WORKFLOW_OVERRIDE,
    DecidingLayer.SUBSCRIBER_GLOBAL: Source.SUBSCRIBER,
    DecidingLayer.SUBSCRIBER_WORKFLOW: Source.SUBSCRIBER,
}


class ChangeReason(StrEnum):
    """What changed a preference of a person, if not their settings."""

    LINK = "link"
    """The page of a link in a message."""
    ONE_CLICK = "one_click"
    """The button of the mail program."""
    SMS_KEYWORD = "sms_keyword"
    """A word such as STOP or START that the person sent."""


class ChannelDecision(Struct, frozen=True):
    """Whether a channel is on, and the layer that decided it (None if no layer set anything)."""

    enabled: bool
    layer: DecidingLayer | None
    reason: str | None = None
    """What changed it, if not the settings of the person: a ChangeReason."""


class PreferenceDecision(Struct, frozen=True):
    """The decision for one subscriber and one workflow."""

    enabled: bool
    """False only if a main switch is off and no stronger layer turns a channel on."""
    channels: dict[Channel, ChannelDecision]


Layers = Sequence[tuple[DecidingLayer, PreferenceLayer | None]]
"""From the strongest to the weakest."""

_DEFAULT = ChannelDecision(enabled=True, layer=None)


def decide_preference(layers: Layers, channels: Sequence[Channel]) -> PreferenceDecision:
    """Decide about each of the channels."""
    decisions = {channel: decide_channel(layers, channel) for channel in channels}
    switches = (layer.all.enabled for _, layer in layers if layer is not None)
    main = next((enabled for enabled in switches if enabled is not None), True)
    return PreferenceDecision(enabled=main or any(one.enabled for one in decisions.values()), channels=decisions)


def decide_channel(layers: Layers, channel: Channel) -> ChannelDecision:
    """Return the setting of the strongest layer that has one for the channel; the default is on.

    A layer's setting is its switch for the channel, or else its main switch.
    """
    for name, layer in layers:
        if layer is None:
            continue
        if channel in layer.channels:
            switch = layer.channels[channel]
            return ChannelDecision(switch.enabled, name, switch.reason)
        if layer.all.enabled is not None:
            return ChannelDecision(layer.all.enabled, name)
    return _DEFAULT


def layers_of(
    workflow: Workflow, subscriber_global: PreferenceLayer | None, subscriber_workflow: PreferenceLayer | None
) -> Layers:
    """Return the layers that apply to a workflow; a critical workflow ignores the subscriber's."""
    own = (
        (DecidingLayer.WORKFLOW_OVERRIDE, workflow.user_preference),
        (DecidingLayer.WORKFLOW_DEFAULT, workflow.default_preference),
    )
    return own if workflow.is_critical else (*subscriber_layers(subscriber_global, subscriber_workflow), *own)


def subscriber_layers(subscriber_global: PreferenceLayer | None, subscriber_workflow: PreferenceLayer | None) -> Layers:
    """Return the layers that belong to the subscriber."""
    return (
        (DecidingLayer.SUBSCRIBER_WORKFLOW, subscriber_workflow),
        (DecidingLayer.SUBSCRIBER_GLOBAL, subscriber_global),
    )


def subject_of(workflow: Workflow) -> Subject:
    """What the rules of subscriptions to topics ask about a workflow."""
    return Subject(id=id_text(workflow.id), key=workflow.key, tags=workflow.tags, is_critical=workflow.is_critical)
