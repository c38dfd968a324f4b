"""What keeps the body of a layout from being saved: its form, its place for the content, and its variables.

Texts that are missing do not: they are issues of the saved layout, and people see their keys.
"""

from collections.abc import Iterator
from typing import Final

from clarion.content.email.blocks.document import is_block_document
from clarion.content.email.checks import check_body, list_templates
from clarion.content.email.compose import EditorType, LayoutSource
from clarion.content.translations.known import KnownTexts
from clarion.errors import Invalid, Problem
from clarion.templates import check_template, weigh_markup
from clarion.workflows.control_checks import MAX_STEP_MARKUP, MAX_STEP_TEXT
from clarion.workflows.issues import Issue, IssueType
from clarion.workflows.variables import (
    MAX_CHECKED_MARKUP,
    describe_layout_variables,
    find_missing_texts,
    find_unknown_in,
)

_HTML_PARTS: Final = ("<html", "</html>", "<body", "</body>")
_EMAIL: Final = "email."


def check_source(source: LayoutSource) -> None:
    """Raise Invalid with everything that is wrong with the body."""
    problems: dict[str, list[Problem]] = {}
    for issue in find_issues(source):
        problems.setdefault(f"controlValues.{issue.path}", []).append(Problem(issue.message))
    if problems:
        raise Invalid(problems)


def find_issues(source: LayoutSource) -> list[Issue]:
    """List what is wrong with the body of a layout."""
    problem = _find_form_problem(source)
    if problem is not None:
        return [Issue(f"{_EMAIL}body", IssueType.MISSING_VALUE, problem)]
    faults = [one for one in check_body(source.body, source.editor_type, is_layout=True).problems if not one.is_warning]
    if faults:
        kinds = {True: IssueType.ILLEGAL_VARIABLE, False: IssueType.MISSING_VALUE}
        return [Issue(_EMAIL + fault.path, kinds[fault.is_template], fault.message) for fault in faults]
    return list(dict.fromkeys(_find_template_issues(source)))


def find_warnings(source: LayoutSource) -> list[tuple[str, str]]:
    """List what people would not see as it is meant, with the paths; it keeps nothing from being saved."""
    problems = check_body(source.body, source.editor_type, is_layout=True).problems
    return [(_EMAIL + problem.path, problem.message) for problem in problems if problem.is_warning]


def find_missing(source: LayoutSource, known: KnownTexts) -> list[Issue]:
    """List the keys in the body that have no text for everyone."""
    texts = [(_EMAIL + path, text) for path, text in list_templates(source.body)]
    if sum(weigh_markup(text) for _, text in texts) > MAX_CHECKED_MARKUP:
        return []
    return list(dict.fromkeys(find_missing_texts("", texts, known)))


def _find_form_problem(source: LayoutSource) -> str | None:
    if len(source.body) > MAX_STEP_TEXT:
        return f"must have at most {MAX_STEP_TEXT} characters"
    if source.editor_type is EditorType.BLOCK:
        is_document = is_block_document(source.body)
        form = '{"type": "doc", "content": [...]}'
        return None if is_document else f"must be the JSON of a document of the block editor: {form}"
    lower = source.body.lower()
    missing = [part for part in _HTML_PARTS if source.editor_type is EditorType.HTML and part not in lower]
    return f"must be a whole HTML document; it lacks {', '.join(missing)}" if missing else None


def _find_template_issues(source: LayoutSource) -> Iterator[Issue]:
    scope = describe_layout_variables()
    for path, text in list_templates(source.body):
        problem = check_template(text)
        if problem is None and weigh_markup(text) > MAX_STEP_MARKUP:
            problem = f"has tags with more than {MAX_STEP_MARKUP} words and signs together"
        if problem is not None:
            yield Issue(_EMAIL + path, IssueType.ILLEGAL_VARIABLE, problem)
        else:
            yield from find_unknown_in(_EMAIL + path, text, scope)
