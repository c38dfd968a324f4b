"""Stored e-mails: each is rendered as it was when people looked at it in a browser, byte for byte.

After a wanted change, `CLARION_WRITE_GOLDEN=1 pytest tests/content/email/test_golden.py` writes them again, and
`python -m tests.browser.email_pictures <folder>` takes pictures to look at: 600 and 390 pixels wide, light and dark.
"""

import json
import os
from pathlib import Path

import pytest

from clarion.content.email.checks import check_body
from clarion.providers.email.message import read_bodies
from tests.content.email.documents import render
from tests.content.email.golden_cases import GOLDEN, GoldenEmail

FOLDER = Path(__file__).parent / "golden"
WRITES = "CLARION_WRITE_GOLDEN" in os.environ


def render_golden(email: GoldenEmail) -> tuple[str, str]:
    """Return the HTML and the text alternative, with a preheader."""
    content = render(email.body, email.variables, email.editor_type, email.layout, email.title)
    html, text = read_bodies(content, {"preheader": "What the list of mails shows"})
    assert html is not None
    return html, text


@pytest.mark.parametrize("name", GOLDEN)
def test_an_email_is_as_it_was(name: str) -> None:
    html, text = render_golden(GOLDEN[name])
    if WRITES:
        (FOLDER / f"{name}.html").write_text(html)
        (FOLDER / f"{name}.txt").write_text(text)

    assert (FOLDER / f"{name}.html").read_text() == html
    assert (FOLDER / f"{name}.txt").read_text() == text


@pytest.mark.parametrize("name", [name for name in GOLDEN if name.startswith("block-")])
def test_the_documents_are_stored_for_the_tests_of_the_editor(name: str) -> None:
    document = json.dumps(json.loads(GOLDEN[name].body), ensure_ascii=False) + "\n"
    if WRITES:
        (FOLDER / f"{name}.json").write_text(document)

    assert (FOLDER / f"{name}.json").read_text() == document


@pytest.mark.parametrize("name", GOLDEN)
def test_the_stored_emails_have_no_problems(name: str) -> None:
    email = GOLDEN[name]
    problems = check_body(email.body, email.editor_type).problems

    assert [problem for problem in problems if not problem.is_warning] == []


def test_no_other_emails_are_stored() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(GOLDEN)
    assert len(GOLDEN) == 24
