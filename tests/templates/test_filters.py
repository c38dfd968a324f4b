"""The filters beyond those of the language."""

from typing import Any

import pytest

from clarion.templates import TemplateProblem, render_text

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
