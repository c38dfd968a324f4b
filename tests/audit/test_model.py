"""What an entry of the audit log says of a change."""

from clarion.audit.model import (
    MAX_SIDE_BYTES,
    MAX_TEXT,
    Action,
    AuditTarget,
    Change,
    TargetType,
    compare,
    show_side,
)
from clarion.jsontext import encode_json
from clarion.secret import Secret


def make_change(before: dict[str, object] | None, after: dict[str, object] | None) -> Change:
    target = AuditTarget(type=TargetType.WORKFLOW, id="1")
    return Change(action=Action.WORKFLOW_UPDATE, target=target, before=before, after=after)


def test_only_members_that_differ_are_on_the_two_sides() -> None:
    before = {"name": "a", "active": True, "deep": {"same": 1, "other": [1, 2]}, "gone": None}
    after = {"name": "b", "active": True, "deep": {"same": 1, "other": [1]}, "new": "x"}

    assert compare(before, after) == (
        {"name": "a", "deep": {"other": [1, 2]}, "gone": None},
        {"name": "b", "deep": {"other": [1]}, "new": "x"},
    )


def test_values_that_differ_in_json_alone_differ() -> None:
    assert compare({"a": 1, "b": [True]}, {"a": True, "b": [1]}) == ({"a": 1, "b": [True]}, {"a": True, "b": [1]})


def test_a_changed_secret_is_named_on_both_sides_and_shown_on_neither() -> None:
    sides = compare(
        {"credentials": {"apiKey": Secret("one"), "token": Secret("same")}},
        {"credentials": {"apiKey": Secret("two"), "token": Secret("same")}},
    )

    assert [show_side(side) for side in sides] == [{"credentials": {"apiKey": "********"}}] * 2


def test_a_change_of_nothing_is_empty() -> None:
    assert make_change({"a": {"b": Secret("x")}}, {"a": {"b": Secret("x")}}).is_empty
    assert not make_change({"a": 1}, {"a": 2}).is_empty
    assert not make_change(None, {}).is_empty
    assert not make_change({}, None).is_empty
    assert not make_change(None, None).is_empty


def test_long_texts_are_cut_with_their_length() -> None:
    assert show_side({"body": "x" * (MAX_TEXT + 1)}) == {"body": f"{'x' * MAX_TEXT}… ({MAX_TEXT + 1} characters)"}
    assert show_side({"body": "x" * MAX_TEXT}) == {"body": "x" * MAX_TEXT}


def test_the_largest_members_of_a_side_that_is_too_large_are_named_by_their_size() -> None:
    many = ["x" * MAX_TEXT] * 70

    shown = show_side({"name": "n", "steps": many, "few": many[:10]})

    assert shown["name"] == "n"
    assert shown["steps"] == f"({len(encode_json(many))} bytes)"
    assert shown["few"] == many[:10]
    assert len(encode_json(shown)) <= MAX_SIDE_BYTES + 100
