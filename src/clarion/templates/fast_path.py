"""A fast path for simple templates: text and variables, and the few filters and tags that compiled e-mails consist of.

Most texts are simple, and the template engine takes ten times as long for them. The result is the same: templates and
values that are not certainly simple are left to the engine, and so is every problem, for its message.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from liquid import BoundTemplate, Markup
from liquid.ast import Node
from liquid.builtin.content import ContentNode
from liquid.builtin.expressions import BooleanExpression, FilteredExpression, Path
from liquid.builtin.expressions.filtered import Filter
from liquid.builtin.expressions.primitive import IntegerLiteral, StringLiteral
from liquid.builtin.filters.misc import default
from liquid.builtin.output import OutputNode
from liquid.builtin.tags.assign_tag import AssignNode
from liquid.builtin.tags.capture_tag import CaptureNode
from liquid.builtin.tags.for_tag import ForNode
from liquid.builtin.tags.if_tag import IfNode
from liquid.expression import Expression

from clarion.templates.filters import count_of
from clarion.templates.markup_filters import MARKUP_FILTERS, is_shown
from clarion.templates.metering import LoopSource
from clarion.templates.segments import (
    Assignment,
    Capture,
    Condition,
    Constant,
    Filtering,
    Loop,
    NeedsEngine,
    Output,
    Segment,
    SimpleRendering,
    Value,
    Variable,
    need_single,
    write_all,
)
from clarion.templates.text_references import PLURAL, plain_key
from clarion.templates.texts import NAME, Texts

# The engine computes these for every list and text, whether or not it has such a member.
_SPECIAL: Final = frozenset({"first", "last"})
_SIZE: Final = "size"
_LOOP: Final = "forloop"
_OWN: Final = "_"
"""What the names of the variables begin with that compiled e-mails assign; no loop has such a name."""


class _NotSimpleError(Exception):
    """A part of a template needs the engine."""


def find_segments(template: BoundTemplate) -> list[Segment] | None:
    """Split a template into segments; None if it is not simple."""
    try:
        return _Reader(is_html=template.env.autoescape).read_all(template.nodes)
    except _NotSimpleError:
        return None


def render_segments(segments: Sequence[Segment], variables: Mapping[str, Any], *, html: bool) -> tuple[str | None, int]:
    """Render segments, and count their steps; None and the steps so far if the engine has to render them."""
    rendering = SimpleRendering(variables, html=html)
    try:
        write_all(segments, rendering)
    except NeedsEngine:
        return None, rendering.steps + (rendering.size >> 8)
    rendered = "".join(rendering.pieces)
    return rendered, rendering.steps + (len(rendered) >> 8)


class _Reader:
    """Reads the nodes of one template."""

    def __init__(self, *, is_html: bool) -> None:
        self._is_html = is_html

    def read_all(self, nodes: Iterable[Node]) -> list[Segment]:
        return [self._read(node) for node in nodes]

    def _read(self, node: Node) -> Segment:
        match node:
            case ContentNode():
                return node.text
            case OutputNode():
                return Output(self._read_value(node.expression))
            case CaptureNode():
                return Capture(_read_own_name(node.name), self._read_block(node.block))
            case AssignNode():
                return Assignment(_read_own_name(node.name), self._read_value(node.expression))
            case IfNode():
                return self._read_condition(node)
            case ForNode():
                return self._read_loop(node)
            case _:
                raise _NotSimpleError

    def _read_block(self, block: Node) -> list[Segment]:
        if block.blank:
            # The engine writes nothing for these, not even their spaces.
            raise _NotSimpleError
        return self.read_all(block.nodes)  # type: ignore[attr-defined]

    def _read_condition(self, node: IfNode) -> Condition:
        if node.alternatives or node.default is not None or not isinstance(node.condition, BooleanExpression):
            raise _NotSimpleError
        return Condition(_read_path(node.condition.expression), self._read_block(node.consequence))

    def _read_loop(self, node: ForNode) -> Loop:
        given = node.expression
        if node.default is not None or given.offset is not None or given.reversed or given.identifier.startswith(_OWN):
            raise _NotSimpleError
        source = given.iterable.inner if isinstance(given.iterable, LoopSource) else given.iterable
        limit = given.limit.value if isinstance(given.limit, IntegerLiteral) else None
        if given.limit is not None and (limit is None or limit <= 0):
            raise _NotSimpleError
        return Loop(str(given.identifier), _read_path(source), limit, self._read_block(node.block))

    def _read_value(self, expression: Expression) -> Value:
        if not isinstance(expression, FilteredExpression):
            raise _NotSimpleError
        filters = tuple(self._read_filter(one) for one in expression.filters or ())
        return Value(_read_path(expression.left), filters)

    def _read_filter(self, used: Filter) -> Filtering:
        arguments = [one.value for one in used.args]
        match (used.name, arguments):
            case ("default", [StringLiteral() | Path()]):
                fallback = self._read_argument(arguments[0])
                return lambda value, rendering: default(need_single(value), fallback.find(rendering))
            case ("_items", [StringLiteral()]):
                return _find_items
            case ("_is_shown", []):
                return _apply(is_shown, takes_lists=True)
            case (name, [StringLiteral() as key]) if name == PLURAL:
                return _make_plural(plain_key(key.value))
            case (name, []) if name in _SINGLE:
                return _apply(_SINGLE[name])
            case _:
                raise _NotSimpleError

    def _read_argument(self, argument: Expression) -> Variable | Constant:
        if isinstance(argument, StringLiteral):
            return Constant(Markup(argument.value) if self._is_html else argument.value)
        return _read_path(argument)


_SINGLE: Final = {name: function for name, function in MARKUP_FILTERS.items() if name not in ("_items", "_is_shown")}


def _read_own_name(name: object) -> str:
    if not str(name).startswith(_OWN):
        raise _NotSimpleError
    return str(name)


def _read_path(expression: Expression) -> Variable:
    if not isinstance(expression, Path):
        raise _NotSimpleError
    names = tuple(segment for segment in expression.path if isinstance(segment, str) and segment not in _SPECIAL)
    if len(names) != len(expression.path) or names[0] in (_LOOP, _SIZE) or _SIZE in names[1:-1]:
        raise _NotSimpleError
    return Variable(names, asks_size=names[-1] == _SIZE)


def _apply(function: Callable[[Any], Any], *, takes_lists: bool = False) -> Filtering:
    def apply(value: Any, rendering: SimpleRendering) -> Any:
        if isinstance(value, str):
            # What is not shown does not count as output, and is read all the same.
            rendering.charge(len(value) >> 6)
        return function(value if takes_lists else need_single(value))

    return apply


def _find_items(value: Any, _: SimpleRendering) -> Any:
    if not isinstance(value, list):
        raise NeedsEngine
    return value


def _make_plural(key: str) -> Filtering:
    def write(value: Any, rendering: SimpleRendering) -> str:
        texts = rendering.variables.get(NAME)
        if not isinstance(texts, Texts):
            return key
        return rendering.write_inner(lambda: texts.write_for(count_of(value), key, rendering.given))

    return write
