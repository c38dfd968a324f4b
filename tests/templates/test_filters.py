"""The filters beyond those of the language."""

from typing import Any

import pytest

from clarion.templates import TemplateProblem, check_template, render_text

PEOPLE = [{"name": name, "at": {"city": name[0]}} for name in ("Ada", "Bob", "Cleo", "Dan", "Eve")]


def render(expression: str, value: Any) -> str:
    return render_text("{{ payload.value | " + expression + " }}", {"payload": {"value": value}})


@pytest.mark.parametrize(
    ("value", "expression", "expected"),
    [
        ({"a": [1, None, "ä"]}, "json", '{"a":[1,null,"ä"]}'),
        ({"a": 1}, "json: 2", '{\n  "a": 1\n}'),
        (None, "json", "null"),
        (2, "times: 1.5 | json", "3.0"),
        (1, "pluralize: 'event'", "1 event"),
        (3, "pluralize: 'event'", "3 events"),
        (3, "pluralize: 'reply'", "3 replies"),
        (3, "pluralize: 'day'", "3 days"),
        (3, "pluralize: 'box'", "3 boxes"),
        (3, "pluralize: 'person', 'people'", "3 people"),
        (0, "pluralize: 'event'", ""),
        (-1, "pluralize: 'event'", ""),
        (None, "pluralize: 'event'", ""),
        ("2", "pluralize: 'event'", "2 events"),
        ("two", "pluralize: 'event'", ""),
        (1.5, "pluralize: 'hour'", "1.5 hours"),
        (1.0, "pluralize: 'hour'", "1 hour"),
        ("nan", "pluralize: 'hour'", ""),
        (1234567, "pluralize: 'hour'", "1234567 hours"),
        (PEOPLE, "pluralize: 'person', 'people'", "5 people"),
        ([], "toSentence", ""),
        ("Ada", "toSentence", ""),
        (["Ada"], "toSentence", "Ada"),
        (["Ada", "Bob"], "toSentence", "Ada and Bob"),
        (["Ada", "Bob", "Cleo"], "toSentence", "Ada, Bob, and 1 other"),
        (["Ada", "Bob", "Cleo"], "toSentence: '', 3", "Ada, Bob, and Cleo"),
        (["Ada", "Bob", "Cleo"], "toSentence: '', 1", "Ada and 2 others"),
        (PEOPLE, "toSentence: 'name', 2", "Ada, Bob, and 3 others"),
        (PEOPLE, "toSentence: 'at.city', 2, 'city'", "A, B, and 3 cities"),
        (PEOPLE, "toSentence: 'nothing', 2", ", , and 3 others"),
        (PEOPLE, "toSentence: 'name', 2, 'other', '; ', ' & ', ' & '", "Ada; Bob & 3 others"),
        (PEOPLE, "digest: 2, 'name'", "Ada, Bob and 3 others"),
        (PEOPLE, "digest: 4, 'name', ' • '", "Ada • Bob • Cleo • Dan and 1 other"),
        ([1, True, None], "digest: 3", "1, true and "),
    ],
)
def test_lists_and_counts_read_as_sentences(value: Any, expression: str, expected: str) -> None:
    assert render(expression, value) == expected


@pytest.mark.parametrize("limit", ["0", "'x'", "-1", "1.5", "nothing"])
def test_a_limit_that_is_none_is_a_problem(limit: str) -> None:
    with pytest.raises(TemplateProblem, match="whole number above zero"):
        render(f"digest: {limit}", PEOPLE)


MOMENT = "2026-07-01T10:30:00Z"


@pytest.mark.parametrize(
    ("value", "expression", "expected"),
    [
        (MOMENT, 'date: "%H:%M", "Europe/Berlin"', "12:30"),
        (MOMENT, 'date: "%H:%M %Z", "America/New_York"', "06:30 EDT"),
        ("2026-01-01T23:30:00+01:00", 'date: "%Y-%m-%d %H:%M", "UTC"', "2026-01-01 22:30"),
        ("2026-07-01 10:30", 'date: "%H:%M", "Europe/Berlin"', "12:30"),
        (1782901800, 'date: "%H:%M", "Europe/Berlin"', "12:30"),
        ("1782901800", 'date: "%H:%M", "Europe/Berlin"', "12:30"),
        (MOMENT, 'date: "%H:%M", 360', "04:30"),
        (MOMENT, 'date: "%H:%M", -120', "12:30"),
        (MOMENT, 'date: "%H:%M", ""', "10:30"),
        (MOMENT, 'date: "%H:%M", payload.nothing', "10:30"),
        ("soon", 'date: "%H:%M", "Europe/Berlin"', "soon"),
        (None, 'date: "%H:%M", "Europe/Berlin"', ""),
        (MOMENT, "date", "Wednesday, July 1, 2026 at 10:30 am +0000"),
    ],
)
def test_a_date_is_shown_in_a_time_zone(value: Any, expression: str, expected: str) -> None:
    assert render(expression, value) == expected
    assert check_template("{{ payload.value | " + expression + " }}") is None


def test_an_unknown_time_zone_of_a_value_is_a_problem() -> None:
    with pytest.raises(TemplateProblem, match="'Berlin' is not a time zone such as Europe/Berlin"):
        render('date: "%H:%M", payload.value', "Berlin")


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("upcase: 1", "the filter 'upcase' takes no arguments, and is given 1"),
        ("replace", "the filter 'replace' takes 1 to 2 arguments, and is given 0"),
        ("append", "the filter 'append' takes 1 argument, and is given 0"),
        ("truncate: 1, 'x', 'y'", "the filter 'truncate' takes 0 to 2 arguments, and is given 3"),
        ("default: 1, allow: true", "the filter 'default' has no argument 'allow'"),
        ("default: 1, context: true", "the filter 'default' has no argument 'context'"),
        ("date: '%H:%M', 'Berlin'", "the filter 'date' cannot be used like this: 'Berlin' is not a time zone"),
        ("digest: 0", "the filter 'digest' cannot be used like this: the limit must be a whole number above zero"),
        ("divided_by: 0", "the filter 'divided_by' cannot be used like this"),
        ("shout", "unknown filter 'shout'"),
    ],
)
@pytest.mark.parametrize(
    "template",
    [
        "{{ x | FILTER }}",
        "{% assign y = x | FILTER %}",
        "{% if x %}{% for y in z %}{{ y | FILTER }}{% endfor %}{% endif %}",
    ],
)
def test_filters_with_wrong_arguments_are_problems_when_they_are_saved(
    template: str, expression: str, problem: str
) -> None:
    found = check_template(template.replace("FILTER", expression))

    assert found is not None
    assert found.startswith(f"is not a valid template: {problem}")


@pytest.mark.parametrize(
    "expression",
    [
        "append: y",
        "default: 1, allow_false: true",
        "truncate: num: 5",
        "round: 400000",
        "plus: 'x'",
        "sum",
        "sort: 'a'",
    ],
)
def test_filters_with_arguments_that_they_take_are_no_problems(expression: str) -> None:
    assert check_template("{{ x | " + expression + " }}") is None
