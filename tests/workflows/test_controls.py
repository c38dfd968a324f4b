"""Controls: decoding and validation."""

from typing import Any

import pytest

from clarion.times import Unit
from clarion.vocabulary import StepType
from clarion.workflows.control_checks import check_controls
from clarion.workflows.controls import (
    SHAPES,
    ControlsProblem,
    DelayControls,
    DelayType,
    DigestControls,
    DigestType,
    InAppControls,
    Target,
    ThrottleControls,
    ThrottleType,
    read_as,
    read_controls,
)
from tests.workflows.support import CONTROLS


def test_every_step_type_that_a_workflow_can_have_is_readable() -> None:
    assert set(SHAPES) == set(StepType)
    for kind, values in CONTROLS.items():
        assert check_controls(StepType(kind), values) == []
        assert isinstance(read_controls(StepType(kind), values), SHAPES[StepType(kind)])


def test_in_app_controls_are_read_with_their_parts() -> None:
    controls = read_as(InAppControls, CONTROLS["in_app"])

    assert controls.subject == "Hello {{subscriber.firstName}}"
    assert controls.primary_action is not None
    assert controls.primary_action.redirect is not None
    assert controls.primary_action.redirect.target is Target.SELF
    assert controls.data == CONTROLS["in_app"]["data"]


def test_whole_numbers_may_be_written_as_floats() -> None:
    values = {"amount": 3.0, "unit": "minutes", "lookBackWindow": {"amount": 2.0, "unit": "hours"}}

    controls = read_as(DigestControls, values)

    assert check_controls(StepType.DIGEST, values) == []
    assert (controls.amount, controls.unit) == (3, Unit.MINUTES)
    assert controls.look_back_window is not None
    assert controls.look_back_window.amount == 2


def test_without_a_type_the_other_controls_tell_the_kind() -> None:
    assert read_as(DelayControls, {"amount": 1, "unit": "days"}).kind is DelayType.REGULAR
    assert read_as(DelayControls, {"cron": "0 9 * * *"}).kind is DelayType.TIMED
    assert read_as(DigestControls, {"cron": "0 9 * * *"}).kind is DigestType.TIMED
    assert read_as(DigestControls, {}).kind is DigestType.REGULAR
    assert read_as(ThrottleControls, {"dynamicKey": "payload.window"}).kind is ThrottleType.DYNAMIC
    assert read_as(ThrottleControls, {}).kind is ThrottleType.FIXED


def test_unknown_members_and_nulls_do_not_disturb() -> None:
    values = {"subject": None, "body": "x", "redirect": None, "color": "red", "skip": None}

    assert check_controls(StepType.IN_APP, values) == []


def test_controls_that_cannot_be_read_say_why() -> None:
    with pytest.raises(ControlsProblem, match="amount must be a number > 0"):
        read_controls(StepType.DELAY, {"amount": 0})


@pytest.mark.parametrize(
    ("kind", "values", "path"),
    [
        ("in_app", {"body": "{{ payload.x"}, "body"),
        ("in_app", {"body": "{% if %}"}, "body"),
        ("in_app", {"body": 5}, "body"),
        ("in_app", {"data": {"deep": ["ok", {"x": "{{ | }}"}]}}, "data.deep.1.x"),
        ("in_app", {"primaryAction": {"label": "{{ nope"}}, "primaryAction.label"),
        ("in_app", {"redirect": {"target": "_self"}}, "redirect.url"),
        ("in_app", {"redirect": {"url": "/", "target": "elsewhere"}}, "redirect.target"),
        ("in_app", {"skip": {"no-such-operator": [1, 2]}}, "skip"),
        ("in_app", {"skip": "payload.x"}, "skip"),
        ("email", {"subject": "{{ payload.x | no_such_filter }}"}, "subject"),
        ("email", {"editorType": "word"}, "editorType"),
        ("email", {"from": {"name": 5}}, "from.name"),
        ("sms", {"body": "{% for %}"}, "body"),
        ("delay", {"type": "never"}, "type"),
        ("delay", {"amount": 0, "unit": "days"}, "amount"),
        ("delay", {"amount": -0.5, "unit": "days"}, "amount"),
        ("delay", {"amount": 1, "unit": "fortnights"}, "unit"),
        ("delay", {"amount": 1_000_000, "unit": "months"}, "amount"),
        ("delay", {"type": "timed", "cron": "every day"}, "cron"),
        ("delay", {"type": "scheduled", "delayPath": "payload..at"}, "delayPath"),
        ("delay", {"type": "dynamic", "dynamicKey": "{{ payload.at"}, "dynamicKey"),
        ("digest", {"digestKey": "payload.[room]"}, "digestKey"),
        ("digest", {"lookBackWindow": {"amount": 1}}, "lookBackWindow.unit"),
        ("digest", {"lookBackWindow": {"amount": 900_000, "unit": "days"}}, "lookBackWindow.amount"),
        ("throttle", {"threshold": 0}, "threshold"),
        ("throttle", {"threshold": 1.5}, "threshold"),
        ("throttle", {"type": "regular"}, "type"),
        ("throttle", {"throttleKey": "a..b"}, "throttleKey"),
        ("custom", {"skip": 5}, "skip"),
    ],
)
def test_what_could_never_run_is_refused_and_named(kind: str, values: dict[str, Any], path: str) -> None:
    problems = check_controls(StepType(kind), values)

    assert [where for where, _ in problems] == [path]


def test_every_broken_control_is_named() -> None:
    problems = check_controls(StepType.PUSH, {"subject": "{{", "body": "{% x %}", "data": {"n": "{{ a"}})

    assert [where for where, _ in problems] == ["subject", "body", "data.n"]


def test_empty_texts_are_missing_ones_and_not_broken() -> None:
    values = {"type": "dynamic", "cron": "", "dynamicKey": "", "delayPath": ""}

    assert check_controls(StepType.DELAY, values) == []
