"""Charging the work of a template: every node, look-up, comparison and loop that it renders costs steps."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import StringIO
from typing import Any, Final, TextIO

from liquid import BoundTemplate, RenderContext, Token
from liquid.ast import Node
from liquid.builtin.expressions import BooleanExpression, FilteredExpression, LoopExpression, Path
from liquid.builtin.expressions.filtered import Filter
from liquid.builtin.expressions.logical import (
    ContainsExpression,
    EqExpression,
    GeExpression,
    GtExpression,
    LeExpression,
    LogicalAndExpression,
    LogicalOrExpression,
    LtExpression,
    NeExpression,
)
from liquid.builtin.expressions.primitive import Literal, Nil
from liquid.builtin.tags.case_tag import MultiExpressionBlockNode
from liquid.builtin.tags.cycle_tag import CycleNode
from liquid.builtin.tags.for_tag import ForLoop
from liquid.builtin.tags.tablerow_tag import TableRow
from liquid.exceptions import ResourceLimitError
from liquid.expression import Expression
from liquid.undefined import UNDEFINED
from liquid.utils import ReadOnlyChainMap

from clarion.conditions.lazy import LazyText
from clarion.templates.text_references import refer_to_texts
from clarion.templates.texts import NAME, Texts, join_key
from clarion.work import MAX_RUN_WORK, MAX_TEXT_WORK, WorkBudget, allow_work, spend_work, spending

MAX_OUTPUT: Final = 1 << 20
"""Characters of one rendered text."""
MAX_ITERATIONS: Final = 10_000
"""Iterations of all loops of one text together."""
MAX_LOCALS: Final = 4 * MAX_OUTPUT
"""Bytes of all variables that a text assigns."""
MAX_NUMBER_BITS: Final = 1024
"""Bits of a number that filters accept, so that repeated squaring ends early."""

_MAX_LOOP_NAME: Final = 200
_COMPARISONS: Final = (
    *(ContainsExpression, EqExpression, NeExpression, LtExpression, LeExpression, GtExpression, GeExpression),
)
_UNCHARGED: Final = (Literal, Nil)


class LimitedContext(RenderContext):
    """The variables of one rendering, with its remaining iterations and work."""

    __slots__ = ("_allowed", "_iterations", "_local_bytes", "_sizes", "_work")

    def __init__(self, template: BoundTemplate, variables: Mapping[str, object]) -> None:
        super().__init__(template, globals=variables)
        # Without the library's `now` and `today`: every unknown variable is empty.
        self.scope = ReadOnlyChainMap(self.locals, self.globals, self.counters)
        self._iterations = MAX_ITERATIONS
        self._allowed = self._work = allow_work(MAX_TEXT_WORK)
        self._local_bytes = 0
        self._sizes: dict[int, tuple[object, int]] = {}

    @property
    def disabled_tags(self) -> list[str]:
        """Empty. The library asks for it whenever it renders a node, so this is where nodes are charged."""
        self._work -= 1
        if self._work < 0:
            raise self._too_much()
        return []

    @disabled_tags.setter
    def disabled_tags(self, tags: list[str]) -> None:
        """The library sets it in the constructor."""

    def charge(self, work: int) -> None:
        self._work -= work
        if self._work < 0:
            raise self._too_much()

    def close(self) -> None:
        """Count the work towards the budget of the run or request."""
        spend_work(self._allowed - max(self._work, 0))

    def measure(self, value: Any) -> int:
        """Return the work of reading a value whole: one step for each item, at any depth, or 64 characters."""
        if isinstance(value, str):
            return len(value) >> 6
        if isinstance(value, int):
            return MAX_RUN_WORK if value.bit_length() > MAX_NUMBER_BITS else 0
        if isinstance(value, list | tuple | dict):
            found = self._sizes.get(id(value))
            return self._measure_items(value) if found is None else found[1]
        return len(value) if isinstance(value, range) else 0

    def _measure_items(self, value: Any) -> int:
        size = len(value)
        for item in value.values() if isinstance(value, dict) else value:
            if isinstance(item, str | list | tuple | dict):
                size += self.measure(item)
            if size > self._work:
                raise self._too_much()
        # Kept with its value, so that the id stays that of this value.
        self._sizes[id(value)] = (value, size)
        return size

    def assign(self, key: str, val: Any) -> None:
        self.charge(1 + (len(val) >> 8 if isinstance(val, str) else 0))
        # Counted on the way: the library adds up all variables at every assignment.
        self._local_bytes += sys.getsizeof(val, 1) - sys.getsizeof(self.locals.get(key), 1)
        if self._local_bytes > MAX_LOCALS:
            raise ResourceLimitError(f"its variables take more than {MAX_LOCALS} bytes", token=None)
        self.locals[key] = val

    def get(self, path: list[object], *, token: Token | None, default: object = UNDEFINED) -> object:
        self._work -= 1 + len(path) // 2
        if self._work < 0:
            raise self._too_much()
        if path[0] == NAME and len(path) > 1 and isinstance(texts := self.scope.get(NAME), Texts):
            return self.write_text(texts, join_key(path))
        value = super().get(path, token=token, default=default)
        return str(value) if isinstance(value, LazyText) else value

    def write_text(self, texts: Texts, key: str, *, number: Any = None) -> str:
        """Return a text of `t`, or its form for a number; the work of rendering it is that of this template."""
        if number is None and (plain := texts.find_plain(key)) is not None:
            self.charge(1 + (len(plain) >> 8))
            return plain
        budget = WorkBudget(self._work)
        with spending(budget):
            text = texts.write(key, self.globals) if number is None else texts.write_for(number, key, self.globals)
        self.charge(1 + self._work - budget.left + (len(text) >> 8))
        return text

    @contextmanager
    def loop(self, namespace: Mapping[str, object], forloop: ForLoop | TableRow) -> Iterator[RenderContext]:
        self._iterations -= forloop.length
        if self._iterations < 0:
            raise ResourceLimitError(f"its loops turn more than {MAX_ITERATIONS} times", token=None)
        with super().loop(namespace, forloop) as context:
            yield context

    def get_buffer(self, buf: TextIO | None = None) -> StringIO:  # noqa: ARG002 - the library's signature
        return LimitedOutput(self)

    def _too_much(self) -> ResourceLimitError:
        if self._allowed < MAX_TEXT_WORK:
            return ResourceLimitError("together with the texts before it, it takes too much work", token=None)
        return ResourceLimitError("it takes too much work", token=None)


class LimitedOutput(StringIO):
    """A buffer that raises when it grows beyond the limit."""

    def __init__(self, context: LimitedContext) -> None:
        super().__init__()
        self._context = context
        self._remaining = MAX_OUTPUT

    def write(self, text: str, /) -> int:
        size = len(text)
        self._remaining -= size
        if self._remaining < 0:
            raise ResourceLimitError(f"its text is longer than {MAX_OUTPUT} characters", token=None)
        if size > 255:
            self._context.charge(size >> 8)
        return super().write(text)


def meter_nodes(nodes: Iterable[Node]) -> list[Filter]:
    """Make everything in a parsed template charge its context when it is rendered; returns the filters that it uses."""
    used: list[Filter] = []
    for node in nodes:
        if isinstance(node, CycleNode):
            node.args = [_Measured(one) for one in node.args]
        if isinstance(node, MultiExpressionBlockNode):
            alternatives = node.expression
            alternatives.left = _Measured(alternatives.left)
            alternatives.expressions = [_Measured(one) for one in alternatives.expressions]
        for expression in node.expressions():
            _meter_expression(expression, used)
        used += meter_nodes(node.children(None))  # type: ignore[arg-type]  # only tags that read files use it
    refer_to_texts(used)
    return used


def _meter_expression(expression: Expression, used: list[Filter]) -> None:
    if isinstance(expression, _COMPARISONS):
        expression.left, expression.right = _Measured(expression.left), _Measured(expression.right)
    elif isinstance(expression, LogicalAndExpression | LogicalOrExpression):
        expression.left, expression.right = _Counted(expression.left), _Counted(expression.right)
    elif isinstance(expression, BooleanExpression) and isinstance(expression.expression, _UNCHARGED):
        expression.expression = _Counted(expression.expression)
    elif isinstance(expression, Path):
        expression.path = [_Index(one.token, one.path) if isinstance(one, Path) else one for one in expression.path]
    elif isinstance(expression, LoopExpression):
        expression.iterable = LoopSource(expression.iterable)
    elif isinstance(expression, FilteredExpression) and expression.filters:
        used += expression.filters
    for child in expression.children():
        _meter_expression(child, used)


class _Wrapped(Expression):
    __slots__ = ("inner",)

    def __init__(self, inner: Expression) -> None:
        super().__init__(inner.token)
        self.inner = inner

    def __str__(self) -> str:
        return str(self.inner)

    def children(self) -> list[Expression]:
        return [self.inner]


class _Counted(_Wrapped):
    """Charges one step for an operand."""

    __slots__ = ()

    def evaluate(self, context: RenderContext) -> object:
        context.charge(1)  # type: ignore[attr-defined]
        return self.inner.evaluate(context)


class _Measured(_Wrapped):
    """Charges the operand of a comparison by its size: it may be read whole."""

    __slots__ = ()

    def evaluate(self, context: RenderContext) -> object:
        value = self.inner.evaluate(context)
        if isinstance(value, str):
            context.charge(1 + (len(value) >> 8))  # type: ignore[attr-defined]
        else:
            context.charge(1 + context.measure(value))  # type: ignore[attr-defined]
        return value


class _Index(Path):
    """A path inside brackets. If it names nothing, the library writes its value into a message."""

    __slots__ = ()

    def evaluate(self, context: RenderContext) -> object:
        value = super().evaluate(context)
        if isinstance(value, str) and len(value) > _MAX_LOOP_NAME:
            context.charge(len(value) >> 3)  # type: ignore[attr-defined]
        return value


class LoopSource(_Wrapped):
    """What a loop is over, with a short name: the library writes the name whenever a loop starts."""

    __slots__ = ("_name",)

    def __init__(self, inner: Expression) -> None:
        super().__init__(inner)
        name = str(inner)
        self._name = name if len(name) <= _MAX_LOOP_NAME else f"{name[:_MAX_LOOP_NAME]}{hash(name)}"

    def __str__(self) -> str:
        return self._name

    def evaluate(self, context: RenderContext) -> object:
        value = self.inner.evaluate(context)
        # An offset walks past the items before it.
        size = len(value) >> 6 if isinstance(value, list | tuple | dict) else 0
        context.charge(2 + size)  # type: ignore[attr-defined]
        return value
