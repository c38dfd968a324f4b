"""What is a translation, and which of several a person reads."""

from typing import Any

import pytest

from clarion.content.translations import model
from clarion.content.translations.catalogs import Languages
from clarion.content.translations.model import find_problems, flatten, list_locales, list_outdated


def test_flat_and_nested_keys_mean_the_same() -> None:
    nested = {"welcome": {"title": "Hello", "lines": {"first": "One"}}, "count": {"one": "a file", "other": "files"}}
    flat = {"welcome.title": "Hello", "welcome.lines.first": "One", "count": {"one": "a file", "other": "files"}}
    assert flatten(nested) == flatten(flat) == flat


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"a": "{{payload.x | upcase}}", "b": {"c": "x"}, "n": {"one": "1", "other": "n"}}, []),
        ({}, []),
        ({"a": 1}, [("a", "must be a text, an object of texts, or the forms of a text for numbers")]),
        ({"a": ["x"]}, [("a", "must be a text, an object of texts, or the forms of a text for numbers")]),
        ({"a": {"b": "x"}, "a.b": "y"}, [("a.b", "is given twice, flat and nested")]),
        ({"a": "{{ payload.x | nosuch }}"}, [("a", "is not a valid template: unknown filter 'nosuch'")]),
        ({"{{x}}": "a"}, [("{{x}}", "must be a key of 1 to 256 characters without braces and line breaks")]),
        ({"": "a"}, [("", "must be a key of 1 to 256 characters without braces and line breaks")]),
        ({"a": "x" * (model.MAX_TEXT + 1)}, [("a", f"is longer than {model.MAX_TEXT} characters")]),
        (
            {"n": {"one": "{{", "other": "n"}},
            [("n", "has a form 'one' that is not a valid template: unexpected end of expression (line 1)")],
        ),
    ],
)
def test_texts_that_cannot_be_used_are_named(content: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    found = find_problems(content)
    assert [key for key, _ in found] == [key for key, _ in expected]
    if not content.get("n") or not expected:
        assert list(found) == expected


def test_a_translation_has_limits() -> None:
    deep: dict[str, Any] = {"a": "x"}
    for _ in range(model.MAX_NESTING + 1):
        deep = {"a": deep}
    assert "nested deeper" in find_problems(deep)[0][1]
    assert "texts of one translation" in find_problems({str(n): "x" for n in range(model.MAX_TEXTS + 1)})[0][1]
    assert "bytes" in find_problems({str(n): "x" * 10_000 for n in range(30)})[0][1]
    tags = {str(n): "{{a}}" * 16 for n in range(1_000)}
    assert "words and signs" in find_problems(tags)[0][1]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("de_AT", ["de_AT", "de_DE", "de_CH", "en_US"]),
        ("de_DE", ["de_DE", "de_AT", "de_CH", "en_US"]),
        ("de", ["de_DE", "de_AT", "de_CH", "en_US"]),
        ("en_GB", ["en_US"]),
        ("fr_FR", ["en_US"]),
        ("en_US", ["en_US"]),
    ],
)
def test_a_person_reads_their_locale_then_their_language_then_the_default(wanted: str, expected: list[str]) -> None:
    assert list_locales(wanted, "en_US", ["de_AT", "de_CH", "de_DE", "en_US"]) == expected


def test_each_key_falls_back_by_itself() -> None:
    languages = Languages(
        is_enabled=True,
        by_locale={"en_US": {"a": "A", "b": "B", "c": "C"}, "de_DE": {"a": "Ä", "b": "Bé"}, "de_AT": {"a": "Å"}},
    )
    catalog = languages.find_catalog("de-at", "en_US")
    assert {key: tuple(text) for key, text in catalog.texts.items()} == {
        "a": ("Å", "de_AT"),
        "b": ("Bé", "de_DE"),
        "c": ("C", "en_US"),
    }


def test_locales_of_people_do_not_fill_the_cache() -> None:
    languages = Languages(is_enabled=True, by_locale={"en_US": {"a": "A"}, "de_DE": {"a": "Ä"}})
    for number in range(500):
        languages.find_catalog(f"x{chr(97 + number % 26)}_{number:03}", "en_US")
    for text in ("de_DE", "de_AT", "de", "{{t.a}}", "", "*"):
        languages.find_catalog(text, "en_US")
    assert len(languages.merged) == 2


def test_a_language_with_other_keys_than_the_default_is_outdated() -> None:
    by_locale = {"en_US": {"a": "A", "b": "B"}, "de_DE": {"a": "Ä"}, "fr_FR": {"b": "b", "a": "a"}}
    assert list_outdated(["de_DE", "fr_FR", "it_IT", "en_US"], "en_US", by_locale) == ["de_DE", "it_IT"]
    assert list_outdated([], "en_US", by_locale) == []
