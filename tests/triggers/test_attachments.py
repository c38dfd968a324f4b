"""Files of a trigger: which lists are files, what counts towards which limit, and what is stored apart."""

import base64
from typing import Any

import pytest

from clarion.errors import Invalid
from clarion.triggers.attachments import (
    MAX_ATTACHED_BYTES,
    MIN_LENGTH,
    has_attachments,
    put_files,
    read_attached_files,
    take_files,
    take_payload_files,
    without_files,
)

SMALL = base64.b64encode(b"small").decode()
BYTES = [115, 109, 97, 108, 108]
GIVEN, READ = {"name": "a", "file": BYTES}, {"name": "a", "file": SMALL}
LONG, SHORT = "x" * MIN_LENGTH, "x" * (MIN_LENGTH - 1)
OTHERS: tuple[Any, ...] = ({"name": "no file"}, {"file": None}, "text", 5, None)


def read_overrides(overrides: dict[str, Any]) -> Any:
    return read_attached_files({}, overrides)[1]


def test_files_of_the_payload_become_base64_and_everything_else_stays() -> None:
    payload = {"attachments": [GIVEN, *OTHERS], "files": [GIVEN], "nested": {"attachments": [GIVEN]}}

    read, overrides = read_attached_files(payload, None)

    assert read == payload | {"attachments": [READ, *OTHERS]}
    assert overrides is None


@pytest.mark.parametrize("payload", [{}, {"attachments": {"file": 7}}, {"attachments": None}])
def test_a_payload_without_a_list_of_attachments_stays_as_it_is(payload: dict[str, Any]) -> None:
    assert read_attached_files(payload, {}) == (payload, {})
    assert without_files(payload) == payload


def test_files_of_overrides_are_read_for_channels_providers_and_those_of_steps() -> None:
    overrides: dict[str, Any] = {
        "email": {"attachments": [GIVEN], "subject": "Hi"},
        "providers": {"sendgrid": {"attachments": [GIVEN]}},
        "steps": {"mail": {"providers": {"ses": {"attachments": [GIVEN]}}}},
    }

    assert read_overrides(overrides) == {
        "email": {"attachments": [READ], "subject": "Hi"},
        "providers": {"sendgrid": {"attachments": [READ]}},
        "steps": {"mail": {"providers": {"ses": {"attachments": [READ]}}}},
    }


def test_other_lists_of_overrides_are_no_files_whatever_is_in_them() -> None:
    others: dict[str, Any] = {"slack": {"blocks": [{"file": 7}], "attachments": {"file": 7, "blocks": [{"file": 8}]}}}

    assert read_overrides({"email": {"attachments": [GIVEN]}, **others})["slack"] == others["slack"]


@pytest.mark.parametrize("file", ["not base64!", 7, {"type": "Buffer"}, {"type": "Other", "data": BYTES}, [256], True])
def test_what_is_no_file_is_named_by_its_path(file: Any) -> None:
    attachments = [GIVEN, {"name": "b", "file": file}]
    for payload, overrides, path in (
        ({"attachments": attachments}, None, "payload.attachments.1.file"),
        ({}, {"providers": {"ses": {"attachments": attachments}}}, "overrides.providers.ses.attachments.1.file"),
    ):
        with pytest.raises(Invalid) as refusal:
            read_attached_files(payload, overrides)
        assert list(refusal.value.problems) == [path]


def test_all_files_of_a_trigger_count_together_up_to_the_limit() -> None:
    half = {"file": base64.b64encode(bytes(MAX_ATTACHED_BYTES // 2)).decode()}
    one_byte = {"file": [0]}

    read_attached_files({"attachments": [half]}, {"email": {"attachments": [half]}})
    for payload, overrides, path in (
        ([half], [half, one_byte], "overrides.email.attachments"),
        ([half, half, one_byte], [], "payload.attachments"),
    ):
        with pytest.raises(Invalid) as refusal:
            read_attached_files({"attachments": payload}, {"email": {"attachments": overrides}})
        assert list(refusal.value.problems) == [path]


def test_files_are_left_out_of_what_counts_towards_the_limit_of_the_payload() -> None:
    payload = {"n": 1, "attachments": [{"name": "a", "file": SMALL}, *OTHERS]}

    assert without_files(payload) == {"n": 1, "attachments": [{"name": "a", "file": ""}, *OTHERS]}
    assert payload["attachments"] == [{"name": "a", "file": SMALL}, *OTHERS]


def test_long_files_are_taken_out_and_put_back_and_everything_else_stays() -> None:
    overrides: dict[str, Any] = {
        "email": {"attachments": [{"name": "a", "file": LONG}, {"name": "b", "file": SHORT}, *OTHERS], "subject": "Hi"},
        "steps": {"mail": {"providers": {"ses": {"attachments": [{"file": LONG}]}}}},
        "slack": {"blocks": [{"file": LONG}], "attachments": {"file": LONG}},
    }

    stored, files = take_files(overrides)

    (name,) = files
    assert files == {name: LONG}
    reference = {"fileHash": name, "fileLength": MIN_LENGTH}
    assert stored["email"]["attachments"] == [{"name": "a", **reference}, {"name": "b", "file": SHORT}, *OTHERS]
    assert stored["steps"]["mail"]["providers"]["ses"]["attachments"] == [reference]
    assert stored["slack"] == overrides["slack"]
    assert put_files(stored, files) == overrides
    assert put_files(stored, {}) == stored


def test_references_that_a_caller_makes_up_are_left_out() -> None:
    made_up = {"name": "a", "fileHash": "0" * 64, "fileLength": 5}

    assert take_files({"attachments": [made_up]}) == ({"attachments": [{"name": "a"}]}, {})


def test_of_a_payload_only_its_own_attachments_are_files() -> None:
    nested = {"attachments": [{"file": LONG}]}
    for payload in ({"nested": nested}, {"attachments": nested}, {}):
        assert take_payload_files(payload) == (payload, {})

    stored, files = take_payload_files({"nested": nested, "attachments": [{"file": LONG}]})

    assert (stored["nested"], list(files.values())) == (nested, [LONG])
    assert stored["attachments"][0]["fileLength"] == MIN_LENGTH


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (None, False),
        ([], False),
        ({}, False),
        ({"attachments": {}}, False),
        ({"email": {"subject": "Hi"}}, False),
        ({"attachments": []}, True),
        ({"email": {"attachments": []}}, True),
        ({"a": 1, "steps": {"mail": {"providers": {"ses": {"attachments": []}}}}}, True),
    ],
)
def test_attachments_are_found_at_any_depth(overrides: Any, expected: bool) -> None:
    assert has_attachments(overrides) is expected
