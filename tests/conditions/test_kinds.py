"""Filters on earlier steps and on whether a person is online."""

from typing import Any

import pytest

from clarion.clock import HOUR, Millis, iso_text
from clarion.conditions import Circumstances, check_filters, decide_filters
from clarion.jsontext import json_text

NOW = Millis(1_767_225_600_000)
STEPS: dict[str, dict[str, Any]] = {
    "new": {"seen": False, "read": False},
    "seen": {"seen": True, "read": False},
    "read": {"seen": True, "read": True},
    "skipped": {},
}


def decide(part: dict[str, Any], **subscriber: Any) -> bool:
    at = Circumstances(now=NOW, find_previous=STEPS.get)
    decision = decide_filters([{"children": [part]}], {"subscriber": subscriber}, at)
    assert json_text(decision.explanation)
    return decision.passed


@pytest.mark.parametrize(
    ("step", "passing"),
    [
        ("new", {"unread", "unseen"}),
        ("seen", {"unread", "seen"}),
        ("read", {"read", "seen"}),
        ("skipped", {"unread", "unseen"}),
        ("missing", set()),
    ],
)
def test_an_earlier_step_is_asked_what_became_of_its_message(step: str, passing: set[str]) -> None:
    marks = ("read", "unread", "seen", "unseen", "lost")

    found = {mark for mark in marks if decide({"on": "previousStep", "step": step, "stepType": mark})}

    assert found == passing


@pytest.mark.parametrize(
    ("value", "online", "expected"),
    [
        (True, True, True),
        (True, False, False),
        (False, False, True),
        (False, None, True),
        ("true", True, True),
        ("perhaps", True, False),
    ],
)
def test_a_person_is_online_or_not(value: Any, online: bool | None, expected: bool) -> None:
    assert decide({"on": "isOnline", "value": value}, isOnline=online) is expected


@pytest.mark.parametrize(
    ("unit", "value", "hours", "online", "expected"),
    [
        ("hours", 2, 2, False, True),
        ("hours", 1, 2, False, False),
        ("minutes", 120, 2, False, True),
        ("minutes", "119", 2, False, False),
        ("days", 1, 24, False, True),
        ("days", 0.5, 24, False, False),
        ("hours", 1, None, False, False),
        ("hours", 1, None, True, True),
        ("hours", 1, 99, True, True),
        ("eons", 1, 1, True, False),
        ("hours", "many", 1, True, False),
    ],
)
def test_a_person_was_online_in_a_length_of_time(
    unit: str, value: Any, hours: int | None, online: bool, expected: bool
) -> None:
    last = None if hours is None else iso_text(Millis(NOW - hours * HOUR))
    part = {"on": "isOnlineInLast", "timeOperator": unit, "value": value}

    assert decide(part, isOnline=online, lastOnlineAt=last) is expected


def test_only_steps_have_circumstances() -> None:
    group = {"children": [{"on": "isOnline", "value": False}]}

    assert not decide_filters([group], {"subscriber": {"isOnline": False}}).passed


@pytest.mark.parametrize(
    ("part", "paths"),
    [
        ({"on": "previousStep", "step": "inbox", "stepType": "read"}, []),
        ({"on": "previousStep"}, [".step", ".stepType"]),
        ({"on": "previousStep", "step": 5, "stepType": ["read"]}, [".step", ".stepType"]),
        ({"on": "isOnline", "value": True}, []),
        ({"on": "isOnline", "value": "{{payload.x}}"}, []),
        ({"on": "isOnline"}, [".value"]),
        ({"on": "isOnlineInLast", "timeOperator": "days", "value": 3}, []),
        ({"on": "isOnlineInLast", "timeOperator": {}, "value": 0}, [".timeOperator", ".value"]),
        ({"on": {}, "field": "x"}, [".on"]),
        ({"on": "moon", "field": "x"}, [".on"]),
    ],
)
def test_every_problem_is_named(part: dict[str, Any], paths: list[str]) -> None:
    found = check_filters([{"children": [part]}])

    assert [path for path, _ in found] == [f"0.children.0{path}" for path in paths]
    assert all(message.startswith("must ") for _, message in found)
