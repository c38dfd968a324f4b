"""The Liquid environment of templates: no access to files, our own filters, and limits on output and work.

The arguments of filters are checked when a template is saved: number, names, and values that can never be used.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final, TextIO

from liquid import BoundTemplate, Environment, RenderContext, escape
from liquid.builtin.expressions.arguments import KeywordArgument
from liquid.builtin.expressions.filtered import Filter
from liquid.builtin.expressions.primitive import Literal, Nil
from liquid.builtin.output import Output, OutputNode
from liquid.builtin.tags.echo_tag import EchoTag
from liquid.exceptions import LiquidError, ResourceLimitError
from liquid.filter import with_context

from clarion.templates import filters, local_filters
from clarion.templates.markup_filters import MARKUP_FILTERS
from clarion.templates.metering import MAX_OUTPUT, LimitedContext, meter_nodes
from clarion.templates.text_references import PLURAL, plural
from clarion.work import MAX_RUN_WORK

_SAMPLES: tuple[Any, ...] = ("2026-01-01T00:00:00Z", "YWJj", 1, ["a"], [{"a": 1}])
"""A filter that refuses its arguments for each of these refuses them for every value."""
_NOT_OF_TEMPLATES = frozenset({"context", "environment"})

MAX_BLOCK_DEPTH: Final = 20

_FILE_TAGS = ("include", "render")
_FILTER_WORK: Final = 3
_ISO_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d[\dT:.Z+ -]{0,25}")
_MAX_DATE: Final = 64
_MAX_FORMAT: Final = 256
_MAX_DIGITS: Final = 1_000


class Parameters:
    """The arguments that a filter takes."""

    def __init__(self, function: Callable[..., Any]) -> None:
        _, *given = inspect.signature(function).parameters.values()
        given = [one for one in given if one.name not in _NOT_OF_TEMPLATES]
        places = [one for one in given if one.kind is not inspect.Parameter.KEYWORD_ONLY]
        self.names = frozenset(one.name for one in given)
        self.limit = len(places)
        self.required = [one.name for one in places if one.default is inspect.Parameter.empty]

    def __str__(self) -> str:
        if self.limit == 0:
            return "no arguments"
        least = len(self.required)
        count = str(least) if least == self.limit else f"{least} to {self.limit}"
        return f"{count} argument{'' if count == '1' else 's'}"


@lru_cache(maxsize=256)
def read_parameters(function: Callable[..., Any]) -> Parameters:
    return Parameters(function)


def find_argument_problem(
    used_filter: Filter, function: Callable[..., Any], guarded: Callable[..., Any], context: LimitedContext
) -> str | None:
    """Return what is wrong with the arguments of a filter, or None; `guarded` is the function with its limits."""
    takes = read_parameters(function)
    named = [argument.name for argument in used_filter.args if isinstance(argument, KeywordArgument)]
    count = len(used_filter.args) - len(named)
    unknown = [name for name in named if name not in takes.names]
    if unknown:
        return f"the filter '{used_filter.name}' has no argument '{unknown[0]}'"
    if count > takes.limit or any(name not in named for name in takes.required[count:]):
        return f"the filter '{used_filter.name}' takes {takes}, and is given {len(used_filter.args)}"
    if all(isinstance(argument.value, Literal | Nil) for argument in used_filter.args):
        places, names = used_filter.evaluate_args(context)
        return _find_value_problem(used_filter.name, guarded, places, names, context)
    return None


def _find_value_problem(
    name: str,
    guarded: Callable[..., Any],
    places: Sequence[object],
    names: Mapping[str, object],
    context: LimitedContext,
) -> str | None:
    reason = ""
    for sample in _SAMPLES:
        try:
            guarded(sample, *places, context=context, **names)
        except ResourceLimitError:
            return None
        except (LiquidError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            reason = reason or (str(error.message) if isinstance(error, LiquidError) else str(error))
        else:
            return None
    return f"the filter '{name}' cannot be used like this: {reason}"


class _JsonOutputNode(OutputNode):
    """`{{ … }}`: writes objects as JSON instead of as their Python repr."""

    __slots__ = ()

    def render_to_output(self, context: RenderContext, buffer: TextIO) -> int:
        value = self.expression.evaluate(context)
        if isinstance(value, list | tuple | dict):
            context.charge(2 * context.measure(value))  # type: ignore[attr-defined]
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
        self.add_filter("date", filters.date)
        for name, function in (_LOCAL_FILTERS | MARKUP_FILTERS).items():
            self.add_filter(name, function)
        self._functions = self.filters
        self.filters = {name: _guard(name, function) for name, function in self.filters.items()}

    def parse_metered(self, text: str) -> tuple[BoundTemplate, list[Filter]]:
        """Parse a template that charges its work when it is rendered; returns also the filters that it uses."""
        template = self.from_string(text)
        return template, meter_nodes(template.nodes)

    def find_filter_problem(self, template: BoundTemplate, used: Iterable[Filter]) -> str | None:
        """Return what is wrong with the filters of a template, or None."""
        context = LimitedContext(template, {})
        for used_filter in {str(one): one for one in used}.values():
            if used_filter.name not in self.filters:
                return f"unknown filter '{used_filter.name}'"
            problem = find_argument_problem(
                used_filter, self._functions[used_filter.name], self.filters[used_filter.name], context
            )
            if problem is not None:
                return problem
        return None


def _guard(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a filter so that it is charged and checks the limits before it starts."""
    needs_context = getattr(function, "with_context", False)
    needs_environment = getattr(function, "with_environment", False)
    cost, length = _COSTS.get(name), _LENGTHS.get(name)
    is_shallow, is_arithmetic = name in _SHALLOW, name in _ARITHMETIC

    @with_context
    def guarded(left: Any, *arguments: Any, context: LimitedContext, **named: Any) -> Any:
        work = _FILTER_WORK if is_shallow else _FILTER_WORK + context.measure(left)
        if arguments:
            # What is no plain value may be read once for each item.
            times = len(left) if isinstance(left, list | tuple) and not is_shallow else 1
            work += times * sum(map(context.measure, arguments))
        if is_arithmetic and isinstance(left, str):
            # Reading a number takes longer than reading a text.
            work += len(left) >> 4
        context.charge(work)
        if cost:
            context.charge(cost(context, left, *arguments[:2]))
        if length and length(left, *arguments[:2]) > MAX_OUTPUT:
            raise ResourceLimitError(f"{name} makes more than {MAX_OUTPUT} characters", token=None)
        if needs_context:
            named["context"] = context
        if needs_environment:
            named["environment"] = context.env
        return function(left, *arguments, **named)

    return guarded


def _replace_length(left: Any, old: Any = "", new: Any = "", /) -> int:
    text = str(left)
    return len(text) + text.count(str(old)) * len(str(new))


def _join_length(left: Any, separator: Any = " ", _: Any = None, /) -> int:
    return len(left) * len(str(separator)) if isinstance(left, list | tuple | range) else 0


def _sort_work(context: LimitedContext, left: Any, *_: Any) -> int:
    return context.measure(left) * len(left).bit_length() // 4 if isinstance(left, list | tuple) else 0


def _uniq_work(context: LimitedContext, left: Any, *_: Any) -> int:
    # The library compares each item with all others: a thousand items make a million comparisons.
    return len(left) * context.measure(left) // 32 if isinstance(left, list | tuple | range) else 0


def _date_work(_: LimitedContext, left: Any, layout: Any = "", *__: Any) -> int:
    """Only dates of the usual form are cheap to read; others are tried in every order of day, month and year."""
    if len(str(layout)) > _MAX_FORMAT:
        raise ResourceLimitError(f"the format of a date is longer than {_MAX_FORMAT} characters", token=None)
    if not isinstance(left, str) or _ISO_DATE.fullmatch(left):
        return 30
    return 4 * len(left) if len(left) <= _MAX_DATE else MAX_RUN_WORK


def _round_work(_: LimitedContext, __: Any, digits: Any = 0, *___: Any) -> int:
    return MAX_RUN_WORK if isinstance(digits, int) and abs(digits) > _MAX_DIGITS else 0


def _text_work(divisor: int) -> Callable[..., int]:
    """Make the cost of a filter that is slow for each character."""

    def work(context: LimitedContext, left: Any, *_: Any) -> int:
        return len(left) // divisor if isinstance(left, str) else context.measure(left) * 64 // divisor

    return work


def _format_work(_: LimitedContext, __: Any, *___: Any) -> int:
    return 15


def _moment_work(context: LimitedContext, left: Any, style: Any = "medium", *_: Any) -> int:
    """A format without a name is looked up among all that are like it."""
    return _date_work(context, left, style) + (30 if str(style) in _NAMED_FORMATS else 400)


_NAMED_FORMATS: Final = frozenset({"short", "medium", "long", "full"})
_LOCAL_FILTERS: Final[dict[str, Callable[..., Any]]] = {
    "currency": local_filters.currency,
    "datetime": local_filters.local_datetime,
    "decimal": local_filters.decimal,
    "local_date": local_filters.local_date,
    "local_list": local_filters.local_list,
    "local_time": local_filters.local_time,
    "percent": local_filters.percent,
    PLURAL: plural,
    "unit": local_filters.unit,
}
_LENGTHS: Final[dict[str, Callable[..., int]]] = {"replace": _replace_length, "join": _join_length}
_COSTS: Final[dict[str, Callable[..., int]]] = {
    **dict.fromkeys(("currency", "decimal", "local_list", "percent", "unit"), _format_work),
    **dict.fromkeys(("datetime", "local_date", "local_time"), _moment_work),
    "date": _date_work,
    "escape_once": _text_work(4),
    "escapejs": _text_work(10),
    "newline_to_br": _text_work(40),
    "round": _round_work,
    "sort": _sort_work,
    "sort_natural": _sort_work,
    "strip_html": _text_work(1),
    "strip_newlines": _text_work(40),
    "uniq": _uniq_work,
    "url_decode": _text_work(12),
    "url_encode": _text_work(12),
}
_ARITHMETIC: Final = frozenset({"at_least", "at_most", "divided_by", "minus", "modulo", "plus", "round", "times"})
# They do not look into the items of a list.
_SHALLOW: Final = frozenset({"_items", "concat", "default", "first", "last", "size"})
