"""The page about Liquid lists every filter that templates may use, and its examples are true."""

import re
from pathlib import Path

from clarion.templates import check_template, make_texts, render_text
from clarion.templates.liquid_environment import LiquidEnvironment
from clarion.templates.markup_filters import MARKUP_FILTERS
from clarion.templates.texts import TextCatalog, TranslatedText

PAGE = (Path(__file__).parents[2] / "docs" / "liquid.md").read_text()
ROWS = re.findall(r"^\| `(\w+)` \| .+? \| `(.+?)` \| `(.*?)` \|$", PAGE, re.MULTILINE)
PEOPLE = [{"name": "Ada", "age": 36}, {"name": "Bob", "age": 41}, {"name": "Eve", "age": 20}]

REPLIES = {"one": "one reply", "other": "{{count}} replies"}
TEXTS = TextCatalog(texts={"replies": TranslatedText(REPLIES, "en_US")})


def test_the_page_lists_each_filter_once() -> None:
    assert sorted(name for name, _, _ in ROWS) == sorted(
        LiquidEnvironment(html=False).filters.keys() - MARKUP_FILTERS.keys()
    )


def test_the_examples_are_valid_and_give_what_the_page_says() -> None:
    for name, example, result in ROWS:
        template = example.replace("\\|", "|")
        assert f"| {name}" in template
        assert check_template(template) is None, template
        variables = {"payload": {"people": PEOPLE}, "t": make_texts(TEXTS)}
        assert render_text(template, variables) == result.replace("\\|", "|")
