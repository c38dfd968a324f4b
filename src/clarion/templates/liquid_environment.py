"""The Liquid environment of templates: no access to files, our own filters, and limits on output and work."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import StringIO
from typing import Any, ClassVar, Final, TextIO

from liquid import BoundTemplate, Environment, RenderContext, Token, escape
from liquid.builtin.output import Output, OutputNode
from liquid.builtin.tags.echo_tag import EchoTag
from liquid.builtin.tags.for_tag import ForLoop
from liquid.builtin.tags.tablerow_tag import TableRow
from liquid.exceptions import ResourceLimitError
from liquid.filter import with_context
from liquid.undefined import UNDEFINED
from liquid.utils import ReadOnlyChainMap

from clarion.templates import filters

MAX_OUTPUT: Final = 1 << 20
"""Characters of one rendered text."""
MAX_ITERATIONS: Final = 10_000
"""Iterations of all loops of one text together."""
MAX_WORK: Final = 1_000_000
"""Units of work: one for each look-up, and for each item or 64 characters that a filter takes.

It limits the time; counting work instead makes the same template render or fail on every machine.
"""
MAX_BLOCK_DEPTH: Final = 20
MAX_NUMBER_BITS: Final = 1024
"""Bits of a number that filters accept, so that repeated squaring ends early."""

_FILE_TAGS = ("include", "render")


class LimitedContext(RenderContext):
    """The variables of one rendering, with its remaining iterations and work."""

    __slots__ = ("_iterations", "_work")

    def __init__(self, template: BoundTemplate, variables: Mapping[str, object]) -> None:
        super().__init__(template, globals=variables)
        # Without the library's `now` and `today`: every unknown variable is empty.
        self.scope = ReadOnlyChainMap(self.locals, self.globals, self.counters)
        self._iterations = MAX_ITERATIONS
        self._work = MAX_WORK

    def charge(self, work: int) -> None:
        self._work -= work
        if self._work < 0:
            raise ResourceLimitError("it takes too much work", token=None)

    def get(self, path: list[object], *, token: Token | None, default: object = UNDEFINED) -> object:
        self.charge(1)
        return super().get(path, token=token, default=default)

    @contextmanager
    def loop(self, namespace: Mapping[str, object], forloop: ForLoop | TableRow) -> Iterator[RenderContext]:
        self._iterations -= forloop.length
        if self._iterations < 0:
            raise ResourceLimitError(f"its loops turn more than {MAX_ITERATIONS} times", token=None)
        with super().loop(namespace, forloop) as context:
            yield context

    def get_buffer(self, buf: TextIO | None = None) -> StringIO:  # noqa: ARG002 - the library's signature
        return LimitedOutput()


class LimitedOutput(StringIO):
    """A buffer that raises when it grows beyond the limit."""

    def __init__(self) -> None:
        super().__init__()
        self._remaining = MAX_OUTPUT

    def write(self, text: str, /) -> int:
        self._remaining -= len(text)
        if self._remaining < 0:
            raise ResourceLimitError(f"its text is longer than {MAX_OUTPUT} characters", token=None)
        return super().write(text)


class _JsonOutputNode(OutputNode):
    """`{{ … }}`: writes objects as JSON instead of as their Python repr."""

    __slots__ = ()

    def render_to_output(self, context: RenderContext, buffer: TextIO) -> int:
        value = self.expression.evaluate(context)
        if not context.autoescape:
            return buffer.write(filters.as_text(value))
        # Items are escaped one by one, because some may be safe markup of a filter, such as line breaks.
        items = value if isinstance(value, list | tuple) else (value,)
        return buffer.write("".join(escape(filters.as_text(item)) for item in items))


class _JsonOutput(Output):
    node_class = _JsonOutputNode


class _Echo(EchoTag):
    node_class = _JsonOutputNode  # type: ignore[assignment]  # differs only in how it prints itself


class LiquidEnvironment(Environment):
    """The tags and filters that a template may use; `html` escapes values."""

    block_nesting_limit: ClassVar[int] = MAX_BLOCK_DEPTH
    local_namespace_limit: ClassVar[int | None] = 4 * MAX_OUTPUT

    def __init__(self, *, html: bool) -> None:
        super().__init__(autoescape=html)
        self.add_tag(_JsonOutput)
        self.add_tag(_Echo)
        for tag in _FILE_TAGS:
            del self.tags[tag]
        self.add_filter("json", filters.to_json)
        self.add_filter("pluralize", filters.pluralize)
        self.add_filter("toSentence", filters.to_sentence)
        self.add_filter("digest", filters.digest)
        self.filters = {name: _guard(name, function) for name, function in self.filters.items()}


def _guard(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a filter so that it checks the limits before it starts."""
    needs_context = getattr(function, "with_context", False)
    needs_environment = getattr(function, "with_environment", False)
    cost = _COSTS.get(name)

    @with_context
    def guarded(left: Any, *arguments: Any, context: LimitedContext, **named: Any) -> Any:
        context.charge(1 + _size(left) + sum(map(_size, arguments)))
        if cost and cost(left, *arguments[:2]) > MAX_OUTPUT:
            raise ResourceLimitError(f"{name} makes more than {MAX_OUTPUT} characters", token=None)
        if needs_context:
            named["context"] = context
        if needs_environment:
            named["environment"] = context.env
        return function(left, *arguments, **named)

    return guarded


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value) >> 6
    if isinstance(value, int):
        return MAX_WORK if value.bit_length() > MAX_NUMBER_BITS else 0
    return len(value) if isinstance(value, list | tuple | range | Mapping) else 0


def _replace_length(left: Any, old: Any = "", new: Any = "", /) -> int:
    text = str(left)
    return len(text) + text.count(str(old)) * len(str(new))


def _join_length(left: Any, separator: Any = " ", _: Any = None, /) -> int:
    return len(left) * len(str(separator)) if isinstance(left, list | tuple | range) else 0


def _uniq_cost(left: Any, *_: Any) -> int:
    # The library compares each item with all others: a thousand items make a million comparisons.
    return len(left) ** 2 // 16 if isinstance(left, list | tuple | range) else 0


_COSTS: dict[str, Callable[..., int]] = {"replace": _replace_length, "join": _join_length, "uniq": _uniq_cost}
