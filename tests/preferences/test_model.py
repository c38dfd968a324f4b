"""The truth table of preferences."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.clock import Millis
from clarion.ids import EnvironmentId, SubscriberId, WorkflowId, WorkflowKey, WorkflowVersionId
from clarion.preferences.model import GLOBAL as ALL
from clarion.preferences.model import (
    ChannelDecision,
    DecidingLayer,
    Layers,
    decide_preference,
    layers_of,
    subscriber_layers,
)
from clarion.vocabulary import Channel, Severity
from clarion.workflows.model import MainSwitch, PreferenceLayer, Switch, Workflow

EMAIL, SMS = Channel.EMAIL, Channel.SMS
DEFAULT, OVERRIDE, GLOBAL, OWN, IN_CONTEXT, OWN_IN_CONTEXT = DecidingLayer


def layer(main: bool | None = None, *, read_only: bool = False, **channels: bool) -> PreferenceLayer:
    switches = {Channel(name): Switch(enabled) for name, enabled in channels.items()}
    return PreferenceLayer(all=MainSwitch(main, read_only), channels=switches)


def workflow(default: PreferenceLayer | None = None, override: PreferenceLayer | None = None) -> Workflow:
    return Workflow(
        environment_id=EnvironmentId(bytes(16)),
        id=WorkflowId(bytes(16)),
        key=WorkflowKey("welcome"),
        name="Welcome",
        description=None,
        active=True,
        tags=[],
        severity=Severity.NONE,
        default_preference=default,
        user_preference=override,
        version_id=WorkflowVersionId(bytes(16)),
        created_at=Millis(0),
        updated_at=Millis(0),
    )


ON, OFF = layer(email=True), layer(email=False)
ALL_ON, ALL_OFF = layer(main=True), layer(main=False)

# default, override, subscriber global, subscriber workflow → e-mail on?, decided by
TRUTH: list[tuple[list[PreferenceLayer | None], bool, DecidingLayer | None]] = [
    ([None, None, None, None], True, None),
    ([layer(), layer(), layer(), layer()], True, None),
    # one layer alone
    ([OFF, None, None, None], False, DEFAULT),
    ([None, OFF, None, None], False, OVERRIDE),
    ([None, None, OFF, None], False, GLOBAL),
    ([None, None, None, OFF], False, OWN),
    ([ALL_OFF, None, None, None], False, DEFAULT),
    ([None, ALL_OFF, None, None], False, OVERRIDE),
    # the stronger layer wins, both ways
    ([OFF, ON, None, None], True, OVERRIDE),
    ([ON, OFF, None, None], False, OVERRIDE),
    ([OFF, OFF, ON, None], True, GLOBAL),
    ([ON, ON, OFF, None], False, GLOBAL),
    ([OFF, OFF, OFF, ON], True, OWN),
    ([ON, ON, ON, OFF], False, OWN),
    # a main switch above beats a channel below, and the other way round
    ([ON, ALL_OFF, None, None], False, OVERRIDE),
    ([ALL_OFF, ON, None, None], True, OVERRIDE),
    ([ALL_OFF, ALL_ON, None, None], True, OVERRIDE),
    ([OFF, ALL_ON, None, None], True, OVERRIDE),
    # in one layer the channel beats the main switch
    ([layer(main=False, email=True), None, None, None], True, DEFAULT),
    ([layer(main=True, email=False), None, None, None], False, DEFAULT),
    # another channel's switch says nothing
    ([None, None, layer(sms=False), None], True, None),
    ([OFF, None, None, layer(sms=True)], False, DEFAULT),
]


def strongest_first(layers: Any) -> Layers:
    return list(zip(DecidingLayer, layers, strict=False))[::-1]


@pytest.mark.parametrize(("layers", "enabled", "by"), TRUTH)
def test_the_strongest_layer_that_speaks_decides(layers: Any, enabled: bool, by: DecidingLayer | None) -> None:
    decision = decide_preference(strongest_first(layers), [EMAIL])

    assert decision.channels == {EMAIL: ChannelDecision(enabled, by)}


@pytest.mark.parametrize(
    ("layers", "enabled"),
    [
        ([None, None, None, None], True),
        ([ALL_OFF, None, None, None], False),
        ([ALL_OFF, ALL_ON, None, None], True),
        ([ALL_ON, ALL_OFF, None, None], False),
        ([ALL_OFF, None, None, ON], True),
        ([ALL_OFF, None, None, OFF], False),
        # every channel off by hand is not the main switch
        ([None, None, None, layer(email=False, sms=False)], True),
    ],
)
def test_enabled_is_the_main_switch_unless_a_channel_is_on(layers: Any, enabled: bool) -> None:
    assert decide_preference(strongest_first(layers), [EMAIL, SMS]).enabled is enabled


def test_a_critical_workflow_does_not_listen_to_the_person() -> None:
    critical = workflow(layer(read_only=True, email=True))
    usual = workflow(ON)

    own = [(GLOBAL, OFF)]
    assert decide_preference(layers_of(critical, own), [EMAIL]).channels[EMAIL] == ChannelDecision(True, DEFAULT)
    assert decide_preference(layers_of(usual, own), [EMAIL]).channels[EMAIL] == ChannelDecision(False, GLOBAL)
    assert workflow(override=layer(read_only=True)).is_critical


def test_what_was_switched_in_contexts_is_stronger_and_holds_there_alone() -> None:
    person, welcome, acme = SubscriberId(bytes(16)), WorkflowId(b"w" * 16), '["tenant:acme"]'
    switched = {
        (person, "", ALL): ON,
        (person, "", welcome): OFF,
        (person, acme, ALL): ON,
        (person, acme, welcome): OFF,
        (person, '["tenant:beta"]', welcome): ON,
    }

    everywhere = [(OWN, OFF), (GLOBAL, ON)]
    assert list(subscriber_layers(switched, person, "", welcome)) == everywhere
    assert list(subscriber_layers(switched, person, '["tenant:gamma"]', welcome)) == everywhere
    assert list(subscriber_layers(switched, person, acme, welcome)) == [
        (OWN_IN_CONTEXT, OFF),
        (IN_CONTEXT, ON),
        *everywhere,
    ]
    assert list(subscriber_layers(switched, person, acme, None)) == [(IN_CONTEXT, ON), (GLOBAL, ON)]
    assert subscriber_layers({}, person, acme, welcome) == ()


switch_layers = st.none() | st.builds(
    PreferenceLayer,
    all=st.builds(MainSwitch, enabled=st.none() | st.booleans()),
    channels=st.dictionaries(st.sampled_from(list(Channel)), st.builds(Switch, st.booleans())),
)


@given(st.tuples(switch_layers, switch_layers, switch_layers, switch_layers), st.sampled_from(list(Channel)))
def test_deciding_agrees_with_reading_the_layers_from_the_top(layers: Any, channel: Channel) -> None:
    named = list(zip(DecidingLayer, layers, strict=False))
    expected = ChannelDecision(True, None)
    for name, one in named:
        if one is not None and (channel in one.channels or one.all.enabled is not None):
            on = one.channels[channel].enabled if channel in one.channels else bool(one.all.enabled)
            expected = ChannelDecision(on, name)

    assert decide_preference(named[::-1], [channel]).channels[channel] == expected
