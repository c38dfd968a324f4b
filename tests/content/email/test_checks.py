"""Checks of saved bodies."""

import pytest

from clarion.content.email.blocks.contrast import find_contrast_problem
from clarion.content.email.checks import CLIPPED_AT, check_body, list_templates
from clarion.content.email.compose import EditorType
from clarion.vocabulary import StepType
from clarion.workflows.issues import find_issues, find_warnings, status_of
from clarion.workflows.model import Step
from tests.content.email.documents import make_document, make_node, paragraph, variable


def warnings_of(body: str, editor_type: EditorType | None = EditorType.HTML) -> list[str]:
    return [problem.message for problem in check_body(body, editor_type).problems if problem.is_warning]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<p>x\n<b>bold</p>", "line 2: <b> is not closed"),
        ("<div>x</span></div>", "</span> ends nothing"),
        ("<p>\n\n<img src='https://x.y/z'></p>", "line 3: a picture has no 'alt'"),
        ("<a href='https://x.y'> </a>", "a link has no text"),
        ("<a href='#'>x</a>", "a link has no address"),
        ("<a>x</a>", "a link has no address"),
        ("<a href='https://x.y' style='background:#777;color:#fff'>x</a>", "has a contrast of 4.5"),
        ("<p class={% if payload.x %}{{ payload.x }}{% endif %}>x</p>", "without quotes"),
        ("<p {{ payload.x }}>x</p>", "without quotes"),
        ("<p>x <b", "line 1: a tag, a comment or Liquid does not end"),
        (f"<p>{'x' * CLIPPED_AT}</p>", "Gmail cuts messages off at 102 KB"),
        ("<style>p{color:red}</style><p {% if x %}a=b{% endif %}>x</p>", "not put into its elements"),
    ],
)
def test_html_is_checked_for_what_people_would_not_see(body: str, words: str) -> None:
    (warning,) = warnings_of(body)

    assert words in warning


@pytest.mark.parametrize(
    "body",
    [
        "Just text with 1 < 2 and {{ payload.x }}",
        "<p>One<p>Two<ul><li>a<li>b</ul><br><img src='https://x.y/z' alt>",
        "<a href='{{ payload.url }}'><img src='https://x.y/z' alt='x'></a><a name='top'></a>",
        "{% if payload.x %}<div class='a'>{% else %}<div>{% endif %}x</div>",
        "<!--[if mso]><table><tr><td><![endif]--><p>x</p>",
    ],
)
def test_html_that_is_well_made_has_no_warnings(body: str) -> None:
    assert warnings_of(body) == []


def test_a_layout_needs_a_place_for_the_content() -> None:
    block = make_document(paragraph("x"))

    assert ["content" in problem.message for problem in check_body("<p>x</p>", None, is_layout=True).problems] == [True]
    assert ["content" in problem.message for problem in check_body(block, None, is_layout=True).problems] == [True]
    assert check_body("<p>{{ content }}</p>", None, is_layout=True).problems == ()


def test_what_the_editor_says_is_compared_with_the_body() -> None:
    (problem,) = check_body("<mjml><mj-body></mj-body></mjml>", EditorType.HTML).problems

    assert (problem.path, problem.is_warning) == ("editorType", False)
    assert "sent as one" in warnings_of(make_document(), EditorType.HTML)[0]
    assert "sent as HTML" in warnings_of("<p>x</p>", EditorType.BLOCK)[0]


def test_liquid_that_is_wrong_in_a_document_is_named_with_its_node() -> None:
    body = make_document(paragraph("fine"), paragraph(variable("payload.x | nofilter")))

    (problem,) = check_body(body, EditorType.BLOCK).problems

    assert problem.path == "body.content[1].content[0].attrs.id"
    assert problem.is_template


def test_variables_of_a_document_are_listed_as_they_are_outside_of_a_repeat() -> None:
    item = variable("current.name", aliasFor="payload.items.name")
    body = make_document(make_node("repeat", paragraph(item, "{{ current.x }}"), each="payload.items"))

    templates = dict(list_templates(body))

    assert templates["body.content[0].attrs.each"] == "{{ payload.items }}"
    assert templates["body.content[0].content[0].content[0].attrs.id"] == "{{ payload.items[0].name }}"
    assert templates["body.content[0].content[0].content[1].text"].startswith("{% for current in payload.items %}")


def test_a_warning_leaves_a_workflow_active() -> None:
    controls = {"subject": "x", "body": "<img src='https://x.y/z'>", "editorType": "html"}
    step = Step(id="a", step_id="a", name="A", type=StepType.EMAIL, controls=controls)

    assert [path for path, _ in find_warnings(step)] == ["body"]
    assert find_issues(step) == []
    assert status_of(active=True, steps=[step]) == "ACTIVE"


@pytest.mark.parametrize(
    ("text", "background", "is_readable"),
    [("#fff", "#000", True), ("white", "rgb(119, 119, 119)", False), ("#767676", "#ffffff", True), ("x", "#fff", True)],
)
def test_contrast_is_that_of_wcag(text: str, background: str, is_readable: bool) -> None:
    assert (find_contrast_problem(text, background) is None) is is_readable
