"""The short way to the text of a plain template: words and variables, without filters and tags.

Most texts of a workflow are such, and the template engine takes ten times as long for them. It gives the same text:
whatever is not surely simple goes the long way.
"""

from collections.abc import Mapping
from typing import Any

from liquid import BoundTemplate, escape
from liquid.ast import Node
from liquid.builtin.content import ContentNode
from liquid.builtin.expressions import FilteredExpression, Path
from liquid.builtin.output import OutputNode

from clarion.templates.dialect import MAX_OUTPUT
from clarion.templates.filters import as_text

Piece = str | tuple[str, ...]
"""Words, or the path of a variable."""

_NOT_SIMPLE = (dict, list, tuple)
# What the engine answers for every list and text, whether or not it has such a member.
_SPECIAL = frozenset({"size", "first", "last"})


def find_pieces(template: BoundTemplate) -> list[Piece] | None:
    """The template as pieces, or None where it is not plain."""
    pieces: list[Piece] = []
    for node in template.nodes:
        piece = _find_piece(node)
        if piece is None:
            return None
        pieces.append(piece)
    return pieces


def join_pieces(pieces: list[Piece], variables: Mapping[str, Any], *, html: bool) -> str | None:
    """The text, or None where a value needs the engine."""
    texts = []
    for piece in pieces:
        if isinstance(piece, str):
            texts.append(piece)
            continue
        value: Any = variables
        for name in piece:
            if not isinstance(value, dict):
                return None
            value = value.get(name)
            if value is None:
                break
        if isinstance(value, _NOT_SIMPLE):
            return None
        shown = value if isinstance(value, str) else as_text(value)
        texts.append(str(escape(shown)) if html else shown)
    text = "".join(texts)
    return text if len(text) <= MAX_OUTPUT else None


def _find_piece(node: Node) -> Piece | None:
    if isinstance(node, ContentNode):
        return node.text
    if not isinstance(node, OutputNode) or not isinstance(node.expression, FilteredExpression):
        return None
    expression = node.expression
    if expression.filters or not isinstance(expression.left, Path):
        return None
    names = tuple(segment for segment in expression.left.path if isinstance(segment, str) and segment not in _SPECIAL)
    return names if len(names) == len(expression.left.path) else None
