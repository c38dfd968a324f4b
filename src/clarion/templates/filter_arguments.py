"""Checking the arguments of filters when a template is saved: number, names, and values that can never be used."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from liquid.builtin.expressions.arguments import KeywordArgument
from liquid.builtin.expressions.filtered import Filter
from liquid.builtin.expressions.primitive import Literal, Nil
from liquid.exceptions import LiquidError, ResourceLimitError

from clarion.templates.metering import LimitedContext

_SAMPLES: tuple[Any, ...] = ("2026-01-01T00:00:00Z", "YWJj", 1, ["a"], [{"a": 1}])
"""A filter that refuses its arguments for each of these refuses them for every value."""
_NOT_OF_TEMPLATES = frozenset({"context", "environment"})


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
    one: Filter, function: Callable[..., Any], guarded: Callable[..., Any], context: LimitedContext
) -> str | None:
    """Return what is wrong with the arguments of a filter, or None; `guarded` is the function with its limits."""
    takes = read_parameters(function)
    named = [argument.name for argument in one.args if isinstance(argument, KeywordArgument)]
    count = len(one.args) - len(named)
    unknown = [name for name in named if name not in takes.names]
    if unknown:
        return f"the filter '{one.name}' has no argument '{unknown[0]}'"
    if count > takes.limit or any(name not in named for name in takes.required[count:]):
        return f"the filter '{one.name}' takes {takes}, and is given {len(one.args)}"
    if all(isinstance(argument.value, Literal | Nil) for argument in one.args):
        places, names = one.evaluate_args(context)
        return _try_out(one.name, guarded, places, names, context)
    return None


def _try_out(
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
