"""Ids sort by creation, and are parsed from their texts."""

import uuid

from hypothesis import given
from hypothesis import strategies as st

from clarion.clock import Millis
from clarion.ids import base62_id, find_id, id_base62, id_millis, id_text, new_id, own_ids

NOW = Millis(1_767_225_600_000)


def test_ids_are_uuids_of_version_seven_with_their_creation_time() -> None:
    made = new_id(NOW)
    parsed = uuid.UUID(bytes=made)

    assert parsed.version == 7
    assert parsed.variant == uuid.RFC_4122
    assert id_millis(made) == NOW


def test_ids_increase_strictly_even_beyond_4096_in_a_millisecond() -> None:
    later = Millis(NOW + 10_000)
    made = [new_id(later) for _ in range(10_000)]

    assert made == sorted(set(made))


def test_a_clock_that_is_set_back_a_little_does_not_break_the_order() -> None:
    first = new_id(Millis(NOW + 50_000))
    second = new_id(Millis(NOW + 49_500))

    assert first < second


@given(st.binary(min_size=16, max_size=16))
def test_an_id_is_parsed_from_its_texts(value: bytes) -> None:
    assert find_id(id_text(value)) == value
    assert find_id(id_text(value).upper()) == value
    assert base62_id(id_base62(value)) == value
    assert id_text(value) == str(uuid.UUID(bytes=value))


@given(st.text(max_size=40))
def test_any_other_text_is_not_an_id(text: str) -> None:
    found = find_id(text)

    assert found is None or id_text(found) == text.lower()


def test_texts_that_resemble_ids_are_not_ids() -> None:
    text = id_text(new_id(NOW))

    assert find_id(text.replace("-", "")) is None
    assert find_id(f"{{{text}}}") is None
    assert find_id(text[:-1] + "g") is None
    assert find_id(" " + text[1:]) is None
    assert base62_id("z" * 22) is None


def test_ids_by_a_clock_of_their_own_do_not_disturb_the_order_of_others() -> None:
    now = Millis(1_767_225_600_000)
    made = [new_id(now)]
    with own_ids():
        ahead = [new_id(Millis(now + 3_600_000)), new_id(Millis(now + 3_600_000)), new_id(Millis(now + 7_200_000))]
    made.append(new_id(now))

    assert made[0][:8] < made[1][:8]
    assert [one[:8] for one in ahead] == sorted({one[:8] for one in ahead})
    assert id_millis(ahead[0]) == now + 3_600_000
