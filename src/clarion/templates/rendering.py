"""Checking templates and making texts of them."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from liquid import BoundTemplate
from liquid.exceptions import LiquidError, LiquidInterrupt

from clarion.cache import BoundedCache
from clarion.errors import ClarionError
from clarion.templates.dialect import MAX_OUTPUT, Context, Dialect, Text
from clarion.templates.plain import Piece, find_pieces, join_pieces

MAX_CACHED: Final = 4096
"""Parsed templates that are kept, and below the characters that they may have together."""
MAX_CACHED_CHARACTERS: Final = 4 << 20

# What filters raise for values that they cannot work with, besides the library's own errors.
FAULTS = (
    LiquidError,
    LiquidInterrupt,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


class TemplateProblem(ClarionError):
    """A text could not be made of a template; the message says why."""


def check_template(text: str) -> str | None:
    """What is wrong with a template, or None: its grammar, its tags and its filters."""
    if not has_markup(text):
        return None
    try:
        template = parse(text)
        unknown = sorted(set(template.analyze(include_partials=False).filters) - set(template.env.filters))
    except TemplateProblem as problem:
        return f"is not a valid template: {problem}"
    except FAULTS as fault:
        return f"is not a valid template: {explain_fault(fault)}"
    return f"is not a valid template: unknown filter '{unknown[0]}'" if unknown else None


def render_text(text: str, variables: Mapping[str, Any], *, html: bool = False) -> str:
    """The text of a template; unknown variables are empty, and with `html` values are escaped."""
    if not has_markup(text):
        return text
    parsed = _parsed(text, html=html)
    plain = None if parsed.pieces is None else join_pieces(parsed.pieces, variables, html=html)
    return _render(parsed.template, variables) if plain is None else plain


def _render(template: BoundTemplate, variables: Mapping[str, Any]) -> str:
    context, output = Context(template, variables), Text()
    try:
        for node in template.nodes:
            node.render(context, output)
    except FAULTS as fault:
        raise TemplateProblem(explain_fault(fault)) from None
    return output.getvalue()


def render_value(value: Any, variables: Mapping[str, Any], *, html: bool = False) -> Any:
    """A JSON value with every text inside it rendered; names of members stay as they are."""
    if isinstance(value, str):
        return render_text(value, variables, html=html) if has_markup(value) else value
    if isinstance(value, dict):
        return {name: render_value(item, variables, html=html) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [render_value(item, variables, html=html) for item in value]
    return value


def parse(text: str, *, html: bool = False) -> BoundTemplate:
    """A template, parsed once while it is in use; raises TemplateProblem."""
    return _parsed(text, html=html).template


class _Parsed(NamedTuple):
    template: BoundTemplate
    pieces: list[Piece] | None


def _parsed(text: str, *, html: bool) -> _Parsed:
    found = _cache.get((text, html))
    if found is None:
        if len(text) > MAX_OUTPUT:
            raise TemplateProblem(f"it is longer than {MAX_OUTPUT} characters")
        try:
            template = _DIALECTS[html].from_string(text)
        except FAULTS as fault:
            raise TemplateProblem(explain_fault(fault)) from None
        found = _Parsed(template, find_pieces(template))
        _cache.put((text, html), found)
    return found


def explain_fault(fault: Exception) -> str:
    """One line about a fault, with the line of the template where it is known."""
    if isinstance(fault, LiquidInterrupt):
        return f"'{fault}' stands outside of a loop"
    if isinstance(fault, RecursionError) or isinstance(fault.__cause__, RecursionError):
        return "it is nested too deeply"
    if not isinstance(fault, LiquidError):
        return f"a value does not fit: {fault}"
    place = fault.context() if fault.token is not None and fault.token.start_index < len(fault.token.source) else None
    return f"{fault.message} (line {place[0]})" if place else str(fault.message)


def has_markup(text: str) -> bool:
    return "{{" in text or "{%" in text


_DIALECTS = {html: Dialect(html=html) for html in (False, True)}
_cache: BoundedCache[tuple[str, bool], _Parsed] = BoundedCache(
    limit=MAX_CACHED, weight_limit=MAX_CACHED_CHARACTERS, weigh=lambda key: len(key[0])
)
