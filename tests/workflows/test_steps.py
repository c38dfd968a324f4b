"""Steps built from request bodies: identifiers are unique, and known steps keep their ids."""

from typing import Any

import msgspec
import pytest

from clarion.clock import Millis
from clarion.errors import Invalid
from clarion.http.wire import parse_checked
from clarion.workflows.model import Step
from clarion.workflows.step_wire import StepIn
from clarion.workflows.steps import build_steps

NOW = Millis(1_767_225_600_000)


def make_inputs(*steps: dict[str, Any]) -> list[StepIn]:
    values = [{"name": "Inbox", "type": "in_app", **one} for one in steps]
    return msgspec.convert(values, list[StepIn], dec_hook=parse_checked)


def build(*steps: dict[str, Any], previous: list[Step] | None = None) -> list[Step]:
    return build_steps(make_inputs(*steps), previous or [], NOW)


def test_a_step_is_named_after_its_name_and_never_twice() -> None:
    built = build(
        {}, {"name": "Étape Une"}, {}, {"name": "通知"}, {"name": "通知", "type": "sms"}, {"stepId": "inbox-2"}
    )

    assert [one.step_id for one in built] == ["inbox", "etape-une", "inbox-3", "in-app", "sms", "inbox-2"]
    assert len({one.id for one in built}) == 6


def test_a_step_known_by_its_id_keeps_its_step_id_under_a_new_name() -> None:
    (before,) = build({})

    (after,) = build({"_id": before.id, "name": "Renamed"}, previous=[before])

    assert (after.id, after.step_id, after.name) == (before.id, "inbox", "Renamed")


def test_a_step_known_by_its_step_id_keeps_its_id() -> None:
    before = build({"stepId": "first"}, {"name": "Second"})

    after = build({"name": "Second"}, {"stepId": "first", "name": "Other"}, previous=before)

    assert [one.id for one in after] == [before[1].id, before[0].id]


def test_the_step_id_of_a_known_step_can_be_changed() -> None:
    (before,) = build({})

    (after,) = build({"_id": before.id, "stepId": "other"}, previous=[before])

    assert (after.id, after.step_id) == (before.id, "other")


def test_an_unknown_id_makes_a_new_step() -> None:
    (after,) = build({"_id": "019b76da-a800-7001-949c-836c491b4f94"})

    assert after.id != "019b76da-a800-7001-949c-836c491b4f94"


def test_no_two_steps_have_the_same_identity() -> None:
    (before,) = build({})

    after = build({"_id": before.id, "stepId": "a"}, {"_id": before.id, "stepId": "b"}, previous=[before])

    assert after[0].id == before.id
    assert after[1].id != before.id


def test_a_step_id_that_two_steps_ask_for_is_refused() -> None:
    with pytest.raises(Invalid) as refused:
        build({"stepId": "a"}, {"stepId": "b"}, {"stepId": "a"})

    assert list(refused.value.problems) == ["steps.2.stepId"]


def test_steps_are_found_by_identifier_id_and_slug() -> None:
    (one,) = build({})

    for reference in (one.step_id, one.id, one.slug, "renamed" + one.slug.removeprefix("inbox")):
        assert one.is_named_by(reference)
    assert not one.is_named_by("inbox_st_0000000000000000000000")


def test_variants_keep_their_ids_by_id_and_by_name() -> None:
    before = build({"variants": [{"name": "a"}, {"name": "b"}, {"name": "b"}]})
    ids = [one.id for one in before[0].variants]

    after = build(
        {"variants": [{"name": "b"}, {"_id": ids[0], "name": "z"}, {"name": "b"}, {"name": "b"}]}, previous=before
    )

    assert [one.id for one in after[0].variants[:3]] == [ids[1], ids[0], ids[2]]
    assert len({one.id for one in after[0].variants}) == 4
