"""Rules of triggered events."""

import msgspec
import pytest

from clarion.clock import Millis
from clarion.ids import JobId, id_text
from clarion.jobs.details import DetailStatus, ExecutionDetail, decode_details, in_time_order, read_details
from clarion.jsontext import json_text
from clarion.runs.notifications.model import EventChannel, event_channel_of, step_mask, step_types, step_types_of
from clarion.vocabulary import StepType


@pytest.mark.parametrize(
    "kinds", [[], [StepType.IN_APP], [StepType.EMAIL, StepType.DIGEST, StepType.CUSTOM], list(StepType)]
)
def test_a_mask_holds_step_types_in_the_order_of_the_vocabulary(kinds: list[StepType]) -> None:
    assert step_types(step_mask(reversed(kinds))) == kinds


def test_a_step_type_counts_once() -> None:
    assert step_mask([StepType.SMS, StepType.SMS]) == step_mask([StepType.SMS])


def test_each_step_type_has_its_own_bit_that_never_moves() -> None:
    assert [step_mask([kind]) for kind in StepType] == [
        *(1, 2, 4, 8, 16, 32, 64, 128, 256, 512),
        *(1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072),
    ]


def test_every_step_type_is_shown_and_those_without_a_name_as_custom_steps() -> None:
    assert {event_channel_of(kind) for kind in StepType} == set(EventChannel)
    assert event_channel_of(StepType.THROTTLE) is EventChannel.CUSTOM
    assert step_types_of(EventChannel.CUSTOM) == [
        *(StepType.THROTTLE, StepType.CUSTOM),
        *(StepType.BRANCH, StepType.EXIT, StepType.TOOL, StepType.WAIT_FOR),
        *(StepType.HTTP_REQUEST, StepType.ASK, StepType.UPDATE, StepType.CLEAR),
    ]
    assert step_types_of(EventChannel.EMAIL) == [StepType.EMAIL]


def make_detail(at: int, text: str) -> ExecutionDetail:
    return ExecutionDetail(id="1", at=Millis(at), status=DetailStatus.SUCCESS, detail=text)


def test_details_are_ordered_by_moment_and_then_as_they_were_written() -> None:
    written = [make_detail(2, "c"), make_detail(1, "a"), make_detail(1, "b")]

    assert [one.detail for one in in_time_order(written)] == ["a", "b", "c"]


def test_a_detail_has_an_id_of_its_own_that_stays_when_others_are_added() -> None:
    job_id = JobId(bytes(15) + b"\xff")
    first = [msgspec.structs.replace(make_detail(2, "a"), id=""), msgspec.structs.replace(make_detail(2, "b"), id="")]
    added = msgspec.structs.replace(make_detail(1, "earlier"), id="")

    before = {one.detail: one.id for one in read_details(job_id, json_text(first))}
    after = {one.detail: one.id for one in read_details(job_id, json_text([*first, added]))}

    assert len(set(after.values())) == 3
    assert after["a"] == before["a"] == id_text(bytes(14) + b"\x01\x00")
    assert after["b"] == before["b"]


def test_details_survive_the_store() -> None:
    written = [make_detail(1, "Step queued"), msgspec.structs.replace(make_detail(2, "x"), raw={"a": 1}, is_retry=True)]

    assert decode_details(msgspec.json.encode(written).decode()) == written
