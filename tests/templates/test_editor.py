"""The code editor of the dashboard knows the Liquid of the service: its tags, filters and faults."""

import json
import re
from pathlib import Path

import pytest

from clarion.templates import check_template
from clarion.templates.liquid_environment import LiquidEnvironment
from clarion.templates.markup_filters import MARKUP_FILTERS

WORDS = (Path(__file__).parents[2] / "web" / "ui" / "code-editor" / "liquid-words.ts").read_text()
CASES = json.loads((Path(__file__).parent / "syntax_cases.json").read_text())
# Text, output and what cannot be parsed are tags to the library.
NOT_WRITTEN = {"content", "output", "illegal"}


def list_words(table: str) -> set[str]:
    found = re.search(rf"export const {table}.*?^}};", WORDS, re.DOTALL | re.MULTILINE)
    assert found
    return set(re.findall(r'^  "?(#|\w+)"?: \{', found[0], re.MULTILINE))


def test_the_editor_offers_the_filters_of_the_service() -> None:
    written = {name for name in LiquidEnvironment(html=True).filters if name not in MARKUP_FILTERS}
    assert list_words("FILTERS") == written


def test_the_editor_offers_the_tags_of_the_service() -> None:
    # `raw` is read by the lexer of the library and is not among its tags.
    assert list_words("TAGS") == (set(LiquidEnvironment(html=True).tags) - NOT_WRITTEN) | {"raw"}


@pytest.mark.parametrize("text", CASES["fine"])
def test_templates_that_the_editor_accepts_are_accepted(text: str) -> None:
    assert check_template(text) is None


@pytest.mark.parametrize("text", CASES["faulty"])
def test_templates_with_an_error_in_the_editor_are_refused(text: str) -> None:
    assert check_template(text) is not None
