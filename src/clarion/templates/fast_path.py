"""A fast path for simple templates: text and variables, without filters and tags.

Most texts of a workflow are simple, and the template engine takes ten times as long for them. The result is the same:
templates and values that are not certainly simple are left to the engine.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from liquid import BoundTemplate, escape
from liquid.ast import Node
from liquid.builtin.content import ContentNode
from liquid.builtin.expressions import FilteredExpression, Path
from liquid.builtin.output import OutputNode

from clarion.templates.filters import as_text
from clarion.templates.markup_filters import MARKUP_FILTERS
from clarion.templates.metering import MAX_OUTPUT
from clarion.templates.texts import Texts, join_key


class Variable(NamedTuple):
    path: tuple[str, ...]
    write: Callable[[Any], str]
    """Makes its text; a filter of compiled e-mails does so with little work, whatever the value."""


Segment = str | Variable
"""Literal text, or a variable."""

_NOT_SIMPLE = (dict, list, tuple, Texts)
# The engine computes these for every list and text, whether or not it has such a member.
_SPECIAL = frozenset({"size", "first", "last"})


_SINGLE = {name: function for name, function in MARKUP_FILTERS.items() if name not in ("_items", "_is_shown")}


def find_segments(template: BoundTemplate) -> list[Segment] | None:
    """Split a template into segments; None if it is not simple."""
    segments: list[Segment] = []
    for node in template.nodes:
        segment = _find_segment(node)
        if segment is None:
            return None
        segments.append(segment)
    return segments


def render_segments(segments: list[Segment], variables: Mapping[str, Any], *, html: bool) -> str | None:
    """Render segments; None if a value needs the engine, or the text is too long."""
    texts = []
    size = 0
    for segment in segments:
        if isinstance(segment, str):
            texts.append(segment)
            continue
        value = _look_up(segment.path, variables)
        if isinstance(value, _NOT_SIMPLE):
            return None
        text = segment.write(value)
        size += len(text)
        if size > MAX_OUTPUT:
            return None
        texts.append(str(escape(text)) if html else text)
    rendered = "".join(texts)
    return rendered if len(rendered) <= MAX_OUTPUT else None


def _look_up(path: tuple[str, ...], variables: Mapping[str, Any]) -> Any:
    """Return the value of a variable, or what it is not simple in."""
    value: Any = variables
    for name in path:
        if not isinstance(value, dict):
            # What has members without being an object is left to the engine, but for texts, of which there are many.
            return value.write(join_key(path), variables) if isinstance(value, Texts) else ()
        value = value.get(name)
        if value is None:
            break
    return value


def _find_segment(node: Node) -> Segment | None:
    if isinstance(node, ContentNode):
        return node.text
    if not isinstance(node, OutputNode) or not isinstance(node.expression, FilteredExpression):
        return None
    expression = node.expression
    if not isinstance(expression.left, Path):
        return None
    names = tuple(segment for segment in expression.left.path if isinstance(segment, str) and segment not in _SPECIAL)
    if len(names) != len(expression.left.path):
        return None
    if not expression.filters:
        return Variable(names, as_text)
    used, *others = expression.filters
    function = _SINGLE.get(used.name)
    return None if others or function is None or used.args else Variable(names, function)
