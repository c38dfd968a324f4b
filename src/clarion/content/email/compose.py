"""Compiles the body of an e-mail, with its layout, to templates, and renders them.

Compiling depends on the texts alone, so it is done once and cached; what differs between people is rendered.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from liquid import Markup
from msgspec import Struct

from clarion.cache import BoundedCache
from clarion.content.email.blocks.compiling import compile_blocks
from clarion.content.email.blocks.document import has_variable, is_block_document, is_json
from clarion.content.email.markup import clean_markup, with_language
from clarion.content.email.mjml import compile_mjml, part_of
from clarion.content.email.problems import BodyProblem
from clarion.content.email.scanning import Unreadable, line_of
from clarion.templates import MAX_TEMPLATE, TemplateProblem, render_text

MAX_CACHED: Final = 1024
MAX_CACHED_CHARACTERS: Final = 16 << 20

_SLOT: Final = re.compile(r"\{\{-?\s*content\s*-?\}\}")
_WRAPPED: Final = re.compile(r"<!doctype[^<>]*>|<!--(?:[^<-]++|<(?!!--)|-(?!->))*+-->", re.IGNORECASE)
_TITLE: Final = "{{ _title }}"


class EditorType(StrEnum):
    BLOCK = "block"
    HTML = "html"
    MJML = "mjml"


class LayoutSource(Struct, frozen=True):
    """The body of a layout as it is stored."""

    body: str
    editor_type: EditorType


class CompiledBody(Struct, frozen=True):
    """The template of one body, and what keeps it from being sent."""

    markup: str
    problems: tuple[BodyProblem, ...] = ()
    """With warnings."""
    uses: tuple[tuple[str, str], ...] | None = None
    """Paths and templates with the variables of a body whose text does not show them; None if it does."""

    @property
    def faults(self) -> list[BodyProblem]:
        return [problem for problem in self.problems if not problem.is_warning]


class CompiledEmail(Struct, frozen=True):
    """Templates whose values are escaped when they are rendered."""

    body: str
    """Of the step: the whole e-mail, or what stands in the slot of the layout."""
    frame: str | None = None
    """Of the layout, in which `content` is the rendered body."""
    problem: "EmailProblem | None" = None
    has_title: bool = False


class EmailProblem(TemplateProblem):
    """A body cannot be sent as it is; the message says why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} {reason}")
        self.path = path
        self.reason = reason


def compile_email(body: str, editor_type: EditorType | None, layout: LayoutSource | None = None) -> CompiledEmail:
    """Return the templates of an e-mail, from the cache if they are there."""
    key = (body, editor_type, layout)
    compiled = _compiled.get(key)
    if compiled is None:
        compiled = _compile(body, editor_type, layout)
        _compiled.put(key, compiled)
    return compiled


def render_email(
    compiled: CompiledEmail,
    variables: Mapping[str, Any],
    layout_variables: Mapping[str, Any] | None = None,
    title: str = "",
) -> str:
    """Render for one person; a layout has its own translations, and otherwise the variables of the step.

    Raises EmailProblem for a body that cannot be sent. The title is that of the document, usually the subject.
    """
    if compiled.problem is not None:
        raise compiled.problem
    if compiled.has_title:
        variables = {**variables, "_title": title}
        layout_variables = None if layout_variables is None else {**layout_variables, "_title": title}
    body = render_text(compiled.body, variables, html=True)
    if compiled.frame is None:
        return body
    inside = {**(variables if layout_variables is None else layout_variables), "content": Markup(body)}
    return render_text(compiled.frame, inside, html=True)


def compile_body(
    body: str, editor_type: EditorType | None, *, is_part: bool = False, is_layout: bool = False
) -> CompiledBody:
    """Compile a body by itself: a block document whatever the editor, else MJML or HTML.

    A part stands in the slot of a layout and has no document around it.
    """
    compiled = _compile_body(body, editor_type, is_part=is_part, is_layout=is_layout)
    if len(compiled.markup) <= MAX_TEMPLATE:
        return compiled
    problem = f"makes more than {MAX_TEMPLATE} characters of HTML; make it shorter"
    return CompiledBody("", (BodyProblem("body", problem),), compiled.uses)


def _compile_body(body: str, editor_type: EditorType | None, *, is_part: bool, is_layout: bool) -> CompiledBody:
    if is_block_document(body):
        blocks = compile_blocks(body, is_part=is_part)
        return CompiledBody(blocks.markup, blocks.problems, blocks.uses)
    if editor_type is EditorType.MJML:
        mjml = compile_mjml(body)
        problems = () if mjml.problem is None else (mjml.problem,)
        return CompiledBody(part_of(mjml.markup) if is_part else mjml.markup, problems)
    if editor_type is EditorType.BLOCK and is_json(body):
        problem = 'is no block document: it must be an object with the type "doc" and a list as content'
        return CompiledBody("", (BodyProblem("body", problem),))
    given = _WRAPPED.sub("", body) if is_part else body
    try:
        markup = clean_markup(given, is_layout=is_layout)
    except Unreadable as unreadable:
        problem = (
            f"line {line_of(given, unreadable.start)}: a value stands in a tag, a comment or Liquid that does not end"
        )
        return CompiledBody("", (BodyProblem("body", problem),))
    return CompiledBody(with_language(markup))


def has_slot(body: str) -> bool:
    """Return whether a layout has a place for the content: a block document as a variable, others as `{{content}}`."""
    return has_variable(body, "content") if is_block_document(body) else _SLOT.search(body) is not None


def _compile(body: str, editor_type: EditorType | None, layout: LayoutSource | None) -> CompiledEmail:
    inner = compile_body(body, editor_type, is_part=layout is not None)
    outer = None if layout is None else compile_body(layout.body, layout.editor_type, is_layout=True)
    problem = _problem(inner.faults, "") or (None if outer is None else _problem(outer.faults, "layout."))
    frame = None if outer is None else outer.markup
    return CompiledEmail(inner.markup, frame, problem, has_title=_TITLE in (frame or inner.markup))


def _problem(faults: list[BodyProblem], prefix: str) -> EmailProblem | None:
    if not faults:
        return None
    more = f" ({len(faults) - 1} more problems)" if len(faults) > 1 else ""
    return EmailProblem(prefix + faults[0].path, faults[0].message + more)


def _weigh(key: tuple[str, EditorType | None, LayoutSource | None], compiled: CompiledEmail) -> int:
    body, _, layout = key
    return len(body) + (len(layout.body) if layout else 0) + len(compiled.body) + len(compiled.frame or "")


_compiled: Final[BoundedCache[tuple[str, EditorType | None, LayoutSource | None], CompiledEmail]] = BoundedCache(
    limit=MAX_CACHED, weight_limit=MAX_CACHED_CHARACTERS, weigh=_weigh
)
