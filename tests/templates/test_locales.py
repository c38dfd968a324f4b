"""Locales: how they are written, and what texts of their languages look like."""

from typing import Any

import pytest
from babel import localedata
from hypothesis import given
from hypothesis import strategies as st

from clarion.templates import TemplateProblem, check_template, render_text
from clarion.templates.local_filters import MAX_BABEL_LOCALES, find_locale, plural_category
from clarion.templates.locales import html_lang, is_regional, normalize_locale, text_direction

NOON = "2026-07-01T10:30:00Z"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("en-us", "en_US"),
        ("de_DE.UTF-8", "de_DE"),
        ("zh-hant-tw", "zh_Hant_TW"),
        ("es-419", "es_419"),
        ("de", "de"),
        ("ca_ES-valencia", "ca_ES"),
        ("", None),
        (None, None),
        ("german", None),
        ('en" onload="x', None),
        ("e", None),
        ("en_US" + "-x" * 40, None),
    ],
)
def test_locales_are_kept_in_one_form(text: str | None, expected: str | None) -> None:
    assert normalize_locale(text) == expected


@pytest.mark.parametrize(("locale", "expected"), [("en_US", True), ("zh_Hant_TW", True), ("en", False)])
def test_translations_need_a_region(locale: str, *, expected: bool) -> None:
    assert is_regional(locale) is expected


@pytest.mark.parametrize(
    ("locale", "lang", "direction"),
    [
        ("ar-EG", "ar-EG", "rtl"),
        ("he", "he", "rtl"),
        ("ks_Deva_IN", "ks-Deva-IN", "ltr"),
        ("pa_Arab_PK", "pa-Arab-PK", "rtl"),
        ("de_DE", "de-DE", "ltr"),
        (None, "en-US", "ltr"),
        ("<b>", "en-US", "ltr"),
    ],
)
def test_languages_say_which_way_they_run(locale: str | None, lang: str, direction: str) -> None:
    assert (html_lang(locale), text_direction(locale)) == (lang, direction)


@given(st.text(max_size=60))
def test_no_locale_of_a_person_breaks_out_of_an_attribute(text: str) -> None:
    assert html_lang(text).replace("-", "").isalnum()
    assert html_lang(text).isascii()
    assert text_direction(text) in ("ltr", "rtl")


@pytest.mark.parametrize(
    ("expression", "value", "locale", "expected"),
    [
        ("decimal", 1234.5, "de_DE", "1.234,5"),
        ("decimal: 2", "1234.5", "fr-FR", "1\u202f234,50"),
        ("percent", 0.25, "de_DE", "25\xa0%"),
        ("currency: 'eur'", 1234.5, "de_DE", "1.234,50\xa0€"),
        ("currency: 'JPY'", 1234, "en_US", "¥1,234"),
        ("unit: 'kilometer'", 3, "de_DE", "3 Kilometer"),
        ("datetime: 'short'", NOON, "de_DE", "01.07.26, 12:30"),
        ("local_date: 'long'", NOON, "de_DE", "1. Juli 2026"),
        ("local_time", NOON, "en_GB", "12:30"),
        ("local_list", ["Ada", "Bob", "Eve"], "de_DE", "Ada, Bob und Eve"),
        ("local_list: 'or'", ["Ada", "Bob"], "en_US", "Ada or Bob"),
        ("decimal", 1234.5, "xx_YY", "1,234.5"),
        ("decimal", 1234.5, "de_XX", "1.234,5"),
        ("decimal", 1234.5, "no such locale", "1,234.5"),
        ("decimal", "many", "de_DE", "many"),
        ("decimal", None, "de_DE", ""),
        ("decimal", True, "de_DE", "true"),
        ("decimal", "1e999999999", "de_DE", "1e999999999"),
        ("local_date", "never", "de_DE", "never"),
        ("local_date", None, "de_DE", ""),
        ("local_list", "Ada", "de_DE", "Ada"),
    ],
)
def test_values_are_written_as_the_person_writes_them(expression: str, value: Any, locale: str, expected: str) -> None:
    variables = {"payload": {"value": value}, "locale": locale, "subscriber": {"timezone": "Europe/Berlin"}}
    assert render_text("{{ payload.value | " + expression + " }}", variables) == expected


def test_a_time_zone_that_is_none_is_utc() -> None:
    variables = {"payload": {"at": NOON}, "locale": "de_DE", "subscriber": {"timezone": "Nowhere/Land"}}
    assert render_text("{{ payload.at | local_time }}", variables) == "10:30"


@pytest.mark.parametrize(
    "expression",
    [
        "currency: 'euro'",
        "unit: 'parsnip'",
        "unit: 'meter', 'tiny'",
        "datetime: '%d.%m.'",
        "local_list: 'nor'",
        "decimal: 99",
        "local_date: 'QQQQQQQQQQ'",
        "currency",
    ],
)
def test_arguments_that_can_never_be_used_are_problems(expression: str) -> None:
    assert check_template("{{ payload.value | " + expression + " }}") is not None


def test_what_is_formatted_is_escaped_in_html() -> None:
    variables = {"payload": {"value": ["<b>", "c"]}, "locale": "en_US"}
    assert render_text("{{ payload.value | local_list }}", variables, html=True) == "&lt;b&gt; and c"


def test_a_loop_of_formats_comes_to_an_end() -> None:
    text = "{% for i in (1..9000) %}{{ payload.at | datetime: 'yMMMEd' }}{% endfor %}"
    with pytest.raises(TemplateProblem, match="too much work"):
        render_text(text, {"payload": {"at": NOON}})


@pytest.mark.parametrize(
    ("number", "locale", "expected"),
    [(1, "en_US", "one"), (2, "en_US", "other"), (3, "pl_PL", "few"), (5, "pl_PL", "many"), (2, "ar_EG", "two")],
)
def test_each_language_has_its_own_plurals(number: int, locale: str, expected: str) -> None:
    assert plural_category(number, locale) == expected


def test_the_data_of_few_locales_is_kept() -> None:
    for name in localedata.locale_identifiers()[: MAX_BABEL_LOCALES + 20]:
        find_locale(name)

    # A locale is loaded with those that it inherits from.
    assert len(localedata._cache) <= MAX_BABEL_LOCALES + 3
    assert plural_category(3, "pl_PL") == "few"
