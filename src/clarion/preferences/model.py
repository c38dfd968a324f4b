"""Decides whether a channel is on, from four layers of preferences, and two more in contexts."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from clarion.contexts.model import stored_keys
from clarion.ids import SubscriberId, WorkflowId, id_text
from clarion.subscribers.model import Subscriber
from clarion.topics.model import Subject
from clarion.vocabulary import Channel
from clarion.workflows.model import PreferenceLayer, Workflow

GLOBAL = WorkflowId(bytes(16))
"""Stands in the place of a workflow id for what a person switched for all workflows."""


class DecidingLayer(StrEnum):
    """The layers from the weakest to the strongest."""

    WORKFLOW_DEFAULT = "workflow default"
    WORKFLOW_OVERRIDE = "workflow override"
    SUBSCRIBER_GLOBAL = "subscriber global"
    SUBSCRIBER_WORKFLOW = "subscriber workflow"
    CONTEXT_GLOBAL = "subscriber global in context"
    CONTEXT_WORKFLOW = "subscriber workflow in context"


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
    DecidingLayer.CONTEXT_GLOBAL: Source.SUBSCRIBER,
    DecidingLayer.CONTEXT_WORKFLOW: Source.SUBSCRIBER,
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

SubscriberLayers = dict[tuple[SubscriberId, str, WorkflowId], PreferenceLayer]
"""What people switched: by the contexts as they are stored, empty for what holds everywhere, and workflow or GLOBAL."""


class PreferenceScope(Struct, frozen=True):
    """What somebody switches: for messages of exactly some contexts, or for all that have nothing of their own."""

    subscriber: Subscriber
    context_keys: tuple[str, ...] = ()

    @property
    def contexts(self) -> str:
        """As they are stored."""
        return stored_keys(self.context_keys) if self.context_keys else ""


_NAMES = {
    True: (DecidingLayer.CONTEXT_WORKFLOW, DecidingLayer.CONTEXT_GLOBAL),
    False: (DecidingLayer.SUBSCRIBER_WORKFLOW, DecidingLayer.SUBSCRIBER_GLOBAL),
}
"""Of what was switched in contexts, and of what holds everywhere."""
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


def layers_of(workflow: Workflow, of_subscriber: Layers) -> Layers:
    """Return the layers that apply to a workflow; a critical workflow ignores the subscriber's."""
    own = (
        (DecidingLayer.WORKFLOW_OVERRIDE, workflow.user_preference),
        (DecidingLayer.WORKFLOW_DEFAULT, workflow.default_preference),
    )
    return own if workflow.is_critical else (*of_subscriber, *own)


def subscriber_layers(
    layers: SubscriberLayers, subscriber_id: SubscriberId, contexts: str, workflow_id: WorkflowId | None
) -> Layers:
    """Return the layers that a person has for a workflow, or for all of them (None).

    `contexts` are those of the message, as they are stored; what the person switched there is stronger.
    """
    if not layers:
        return ()
    return tuple(
        (name, layers[key])
        for place in ((contexts, "") if contexts else ("",))
        for name, target in zip(_NAMES[bool(place)], (workflow_id, GLOBAL), strict=True)
        if target is not None and (key := (subscriber_id, place, target)) in layers
    )


def subject_of(workflow: Workflow) -> Subject:
    """What the rules of subscriptions to topics ask about a workflow."""
    return Subject(id=id_text(workflow.id), key=workflow.key, tags=workflow.tags, is_critical=workflow.is_critical)
