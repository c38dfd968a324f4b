"""SMS: the alphabet and the parts of a text."""

import json
from pathlib import Path

import pytest

from clarion.providers.sms.message import count_parts, is_gsm7


@pytest.mark.parametrize(
    "text", ["", "Hello @ £$¥èéùìòÇØøÅå", "ΔΦΓΛΩΠΨΣΘΞÆæßÉ", "äöñüà ÄÖÑÜ§¿¡¤", "5 € {a|b} [^~\\]", "a\r\nb"]
)
def test_gsm7_characters_are_recognised(text: str) -> None:
    assert is_gsm7(text)


@pytest.mark.parametrize("text", ["ç", "á", "`", "Привет", "🎉", "“quoted”", "a\tb", "\x1b"])
def test_other_characters_are_not_gsm7(text: str) -> None:
    assert not is_gsm7(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", 1),
        ("a" * 160, 1),
        ("a" * 161, 2),
        ("a" * 306, 2),
        ("a" * 307, 3),
        ("€" * 80, 1),
        ("€" * 81, 2),
        # An escape is not cut from its character, so each part of 153 holds 76 of them.
        ("€" * 152, 2),
        ("€" * 153, 3),
        ("á" * 70, 1),
        ("á" * 71, 2),
        ("á" * 134, 2),
        ("á" * 135, 3),
        ("🎉" * 35, 1),
        ("🎉" * 36, 2),
        # Nor is a pair of UTF-16 cut in two: 33 of them to a part of 67.
        ("🎉" * 66, 2),
        ("🎉" * 67, 3),
    ],
)
def test_a_text_is_split_like_in_the_network(text: str, parts: int) -> None:
    assert count_parts(text) == parts


@pytest.mark.parametrize(
    ("piece", "times", "is_plain", "parts"), json.loads((Path(__file__).parent / "parts.json").read_text())
)
def test_texts_are_counted_as_in_the_dashboard(piece: str, times: int, is_plain: bool, parts: int) -> None:
    assert is_gsm7(piece * times) is is_plain
    assert count_parts(piece * times) == parts
