"""The parts of a simple template, which write themselves without the template engine."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from liquid import Markup, escape
from liquid.exceptions import LiquidError

from clarion.conditions.lazy import LazyText
from clarion.templates.filters import as_text
from clarion.templates.metering import MAX_ITERATIONS, MAX_OUTPUT
from clarion.templates.texts import Texts, join_key
from clarion.work import MAX_TEXT_WORK, WorkBudget, allow_work, spending

_NOT_SINGLE: Final = (dict, list, tuple, Texts)


class NeedsEngine(Exception):
    """A value is not simple, or the text becomes too large: the engine renders it, or says what is wrong."""


class SimpleRendering:
    """The variables of one rendering, and what is written so far."""

    __slots__ = ("_limit", "given", "html", "iterations", "pieces", "size", "steps", "variables")

    def __init__(self, variables: Mapping[str, Any], *, html: bool) -> None:
        self.given = variables
        self.variables: dict[str, Any] = variables  # type: ignore[assignment]  # copied before it is changed
        """With those that the template assigns: texts of `t` do not see them."""
        self.html = html
        self.pieces: list[str] = []
        self.size = 0
        self.iterations = 0
        self.steps = 0
        self._limit = allow_work(MAX_TEXT_WORK)

    def assign(self, name: str, value: Any) -> None:
        if self.variables is self.given:
            self.variables = dict(self.given)
        self.variables[name] = value

    def write(self, text: str) -> None:
        self.size += len(text)
        if self.size > MAX_OUTPUT:
            raise NeedsEngine
        self.pieces.append(text)

    def charge(self, steps: int) -> None:
        self.steps += steps
        if self.steps > self._limit:
            raise NeedsEngine

    def write_inner(self, write: Callable[[], str]) -> str:
        """Return a text of `t` that is a template itself: its work is that of this rendering."""
        budget = WorkBudget(self._limit - self.steps)
        try:
            with spending(budget):
                return write()
        finally:
            self.charge(budget.spent)


class _Writing(Protocol):
    def write(self, rendering: SimpleRendering) -> None:
        """Write itself; raises NeedsEngine."""
        ...


Segment = str | _Writing
Filtering = Callable[[Any, SimpleRendering], Any]


def write_all(segments: Sequence[Segment], rendering: SimpleRendering) -> None:
    """Write segments one after the other; raises NeedsEngine."""
    rendering.charge(len(segments))
    for segment in segments:
        if isinstance(segment, str):
            rendering.write(segment)
        else:
            segment.write(rendering)


def need_single(value: Any) -> Any:
    """Return a value that is neither a list nor an object; raises NeedsEngine for these."""
    if isinstance(value, _NOT_SINGLE):
        raise NeedsEngine
    return value


class Variable(NamedTuple):
    """A path of names."""

    path: tuple[str, ...]
    asks_size: bool = False
    """Whether the last name is `size`, which lists have by themselves."""

    def find(self, rendering: SimpleRendering) -> Any:
        """Return the value, or None if there is none; raises NeedsEngine for what is no plain member."""
        value: Any = rendering.variables
        for name in self.path:
            if not isinstance(value, dict):
                return self._find_inside(value, name, rendering)
            if self.asks_size and name == "size" and name not in value:
                raise NeedsEngine
            value = value.get(name)
            if value is None:
                return None
        return str(value) if isinstance(value, LazyText) else value

    def _find_inside(self, value: Any, name: str, rendering: SimpleRendering) -> Any:
        """What has members without being an object is left to the engine, but for texts and the size of lists."""
        if isinstance(value, Texts):
            return _write_text(value, join_key(self.path), rendering)
        if self.asks_size and name == "size" and isinstance(value, list):
            return len(value)
        raise NeedsEngine


def _write_text(texts: Texts, key: str, rendering: SimpleRendering) -> str:
    plain = texts.find_plain(key)
    if plain is not None:
        return plain
    try:
        return rendering.write_inner(lambda: texts.write(key, rendering.given))
    except LiquidError:
        raise NeedsEngine from None


class Constant(NamedTuple):
    text: str

    def find(self, _: SimpleRendering) -> str:
        return self.text


class Value(NamedTuple):
    """A variable, and the filters that it goes through."""

    variable: Variable
    filters: tuple[Filtering, ...] = ()

    def find(self, rendering: SimpleRendering) -> Any:
        value = self.variable.find(rendering)
        try:
            for function in self.filters:
                value = function(value, rendering)
        except LiquidError:
            raise NeedsEngine from None
        return value


class Output(NamedTuple):
    value: Value

    def write(self, rendering: SimpleRendering) -> None:
        text = as_text(need_single(self.value.find(rendering)))
        rendering.write(str(escape(text)) if rendering.html else text)


class Assignment(NamedTuple):
    name: str
    value: Value

    def write(self, rendering: SimpleRendering) -> None:
        rendering.assign(self.name, self.value.find(rendering))


class Capture(NamedTuple):
    name: str
    segments: Sequence[Segment]

    def write(self, rendering: SimpleRendering) -> None:
        outer, rendering.pieces = rendering.pieces, []
        write_all(self.segments, rendering)
        text, rendering.pieces = "".join(rendering.pieces), outer
        rendering.assign(self.name, Markup(text) if rendering.html else text)


class Condition(NamedTuple):
    variable: Variable
    segments: Sequence[Segment]

    def write(self, rendering: SimpleRendering) -> None:
        value = self.variable.find(rendering)
        if value is not None and value is not False:
            write_all(self.segments, rendering)


class Loop(NamedTuple):
    name: str
    variable: Variable
    limit: int | None
    segments: Sequence[Segment]

    def write(self, rendering: SimpleRendering) -> None:
        items = self.variable.find(rendering)
        if items is None:
            return
        if not isinstance(items, list):
            raise NeedsEngine
        items = items[: self.limit]
        rendering.iterations += len(items)
        if rendering.iterations > MAX_ITERATIONS:
            raise NeedsEngine
        if not items:
            return
        outer = rendering.variables.get(self.name)
        for item in items:
            rendering.assign(self.name, item)
            write_all(self.segments, rendering)
        rendering.assign(self.name, outer)
