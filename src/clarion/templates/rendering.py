"""Validates and renders templates."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from liquid import BoundTemplate
from liquid.exceptions import LiquidError, LiquidInterrupt

from clarion.cache import BoundedCache
from clarion.errors import ClarionError
from clarion.templates.fast_path import Segment, find_segments, render_segments
from clarion.templates.liquid_environment import MAX_OUTPUT, LimitedContext, LimitedOutput, LiquidEnvironment

MAX_CACHED: Final = 4096
"""Parsed templates in the cache."""
MAX_CACHED_CHARACTERS: Final = 4 << 20
"""Characters of all templates in the cache."""

# The library's own errors, and those that filters raise for values of the wrong type.
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
    """A template cannot be rendered; the message says why."""


def check_template(text: str) -> str | None:
    """Return what is wrong with the syntax, tags or filters of a template, or None."""
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
    """Render a template; unknown variables are empty, and with `html` values are escaped."""
    if not has_markup(text):
        return text
    parsed = _parsed(text, html=html)
    rendered = None if parsed.segments is None else render_segments(parsed.segments, variables, html=html)
    if rendered is None:
        rendered = _render(parsed.template, variables)
    # Filters that decode can produce U+0000, which PostgreSQL cannot store.
    return rendered.replace("\0", "") if "\0" in rendered else rendered


def _render(template: BoundTemplate, variables: Mapping[str, Any]) -> str:
    context, output = LimitedContext(template, variables), LimitedOutput()
    try:
        for node in template.nodes:
            node.render(context, output)
    except FAULTS as fault:
        raise TemplateProblem(explain_fault(fault)) from None
    return output.getvalue()


def render_value(value: Any, variables: Mapping[str, Any], *, html: bool = False) -> Any:
    """Render every text in a JSON value; names of members stay as they are."""
    if isinstance(value, str):
        return render_text(value, variables, html=html) if has_markup(value) else value
    if isinstance(value, dict):
        return {name: render_value(item, variables, html=html) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [render_value(item, variables, html=html) for item in value]
    return value


def parse(text: str, *, html: bool = False) -> BoundTemplate:
    """Parse a template, or take it from the cache; raises TemplateProblem."""
    return _parsed(text, html=html).template


class _ParsedTemplate(NamedTuple):
    template: BoundTemplate
    segments: list[Segment] | None


def _parsed(text: str, *, html: bool) -> _ParsedTemplate:
    found = _cache.get((text, html))
    if found is None:
        if len(text) > MAX_OUTPUT:
            raise TemplateProblem(f"it is longer than {MAX_OUTPUT} characters")
        try:
            template = _ENVIRONMENTS[html].from_string(text)
        except FAULTS as fault:
            raise TemplateProblem(explain_fault(fault)) from None
        found = _ParsedTemplate(template, find_segments(template))
        _cache.put((text, html), found)
    return found


def explain_fault(fault: Exception) -> str:
    """Describe a fault in one line, with the line of the template if it is known."""
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


_ENVIRONMENTS = {html: LiquidEnvironment(html=html) for html in (False, True)}
_cache: BoundedCache[tuple[str, bool], _ParsedTemplate] = BoundedCache(
    limit=MAX_CACHED, weight_limit=MAX_CACHED_CHARACTERS, weigh=lambda key: len(key[0])
)
