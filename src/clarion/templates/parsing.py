"""Parses templates and caches them; lists the variables that they refer to."""

import re
from typing import Final, NamedTuple

from liquid import BoundTemplate
from liquid.builtin.expressions.filtered import Filter
from liquid.exceptions import LiquidError, LiquidInterrupt

from clarion.cache import BoundedCache
from clarion.errors import ClarionError
from clarion.templates.fast_path import find_segments
from clarion.templates.liquid_environment import LiquidEnvironment
from clarion.templates.segments import Segment
from clarion.templates.text_references import list_keys
from clarion.templates.texts import NAME
from clarion.work import note_parsing

MAX_TEMPLATE: Final = 512 << 10
"""Characters of one text."""
MAX_MARKUP: Final = 10_000
"""Tags, and the words and signs in them, of one text: what parsing takes time for."""
MAX_CACHED: Final = 4096
"""Parsed templates in the cache."""
MAX_CACHED_CHARACTERS: Final = 4 << 20
"""Characters of all templates in the cache."""

Reference = tuple[str | int | None, ...]
"""The path of a variable; None stands for a member that another variable names."""

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

_MARKUP: Final = re.compile(r"\{\{.*?(?:\}\}|\Z)|\{%.*?(?:%\}|\Z)", re.DOTALL)
_SIGN: Final = re.compile(r"\w+|[^\w\s]|\n")
_TAG_WEIGHT: Final = 4
_LINE_WEIGHT: Final = 7
_UNPARSED: Final = {name: re.compile(rf"\{{%-?\s*{name}\s*-?%\}}") for name in ("raw", "doc")}
_UNPARSED_ENDS: Final = {name: re.compile(rf"\{{%-?\s*end{name}\s*-?%\}}") for name in _UNPARSED}
_RAW: Final = re.compile(r"\{%-?\s*raw\s*-?%\}.*?\{%-?\s*endraw\s*-?%\}", re.DOTALL)
_GAP: Final = re.compile(r"(?<!\s)\s{101}")
"""Spaces in a tag: the library tries each number of them."""


class TemplateProblem(ClarionError):
    """A template cannot be rendered; the message says why."""


class ParsedTemplate(NamedTuple):
    template: BoundTemplate
    segments: list[Segment] | None
    """For the fast path; None if the template is not simple."""
    filters: list[Filter]
    """All that it uses."""


def has_markup(text: str) -> bool:
    return "{{" in text or "{%" in text


def parse(text: str, *, html: bool = False) -> ParsedTemplate:
    """Parse a template, or take it from the cache; raises TemplateProblem."""
    parsed = _cache.get((text, html))
    if parsed is None:
        problem = find_excess(text)
        if problem is not None:
            raise TemplateProblem(problem)
        note_parsing(2 * weigh_markup(text))
        try:
            template, filters = _ENVIRONMENTS[html].parse_metered(text)
        except FAULTS as fault:
            raise TemplateProblem(explain_fault(fault)) from None
        parsed = ParsedTemplate(template, find_segments(template), filters)
        _cache.put((text, html), parsed)
    return parsed


def find_filter_problem(text: str) -> str | None:
    """Return what is wrong with the filters of a template, or None; raises TemplateProblem if it cannot be parsed."""
    parsed = parse(text)
    return _ENVIRONMENTS[False].find_filter_problem(parsed.template, parsed.filters)


def find_excess(text: str) -> str | None:
    """Return why a text is too large to be parsed, or None."""
    if len(text) > MAX_TEMPLATE:
        return f"it is longer than {MAX_TEMPLATE} characters"
    if weigh_markup(text) > MAX_MARKUP:
        return f"its tags have more than {MAX_MARKUP} words and signs together"
    for name, start in _UNPARSED.items():
        # The library reads to the end of the text for each block that is not closed.
        if name in text and len(start.findall(text, _last_end(_UNPARSED_ENDS[name], text))) > 1:
            return f"a block '{name}' is not closed"
    return _find_open_tag(text)


def _last_end(end: re.Pattern[str], text: str) -> int:
    return max((match.end() for match in end.finditer(text)), default=0)


def _count_open(text: str, sign: str, end: str) -> int:
    return text.count(sign, text.rfind(end) + 1)


def _find_open_tag(text: str) -> str | None:
    """Return what the library would read again and again, or None."""
    for sign, end in (("{{", "}}"), ("{%", "%}")):
        # The library reads to the end of the text for each of these.
        if _count_open(text, sign, end) > 1 and _count_open(_RAW.sub("", text), sign, end) > 1:
            return f"more than one '{sign}' has no '{end}'"
    if _GAP.search(text) and any(_GAP.search(tag[0]) for tag in _MARKUP.finditer(text)):
        return "a tag has more than 100 spaces in a row, or is not closed"
    return None


def weigh_markup(text: str) -> int:
    """Return how much there is to parse: each tag, and the words, signs and lines in it."""
    if not has_markup(text):
        return 0
    weight = 0
    for tag in _MARKUP.finditer(text):
        inner = tag[0]
        # Also what is neither word nor sign is read.
        weight += len(inner) >> 5
        if weight > MAX_MARKUP:
            break
        signs = _SIGN.findall(inner)
        weight += _TAG_WEIGHT + len(signs) + _LINE_WEIGHT * inner.count("\n")
    return weight


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


def list_references(text: str) -> tuple[Reference, ...]:
    """List the variables that a template takes from outside; loop variables and assigned ones are its own.

    A text that is no template has none.
    """
    if not has_markup(text):
        return ()
    references = _references.get(text)
    if references is None:
        references = _analyze(text)
        _references.put(text, references)
    return references


def list_text_keys(text: str) -> list[str]:
    """List the keys of texts that arguments of filters name; those of `{{t.key}}` are references."""
    if f"{NAME}." not in text or not has_markup(text):
        return []
    try:
        return list_keys(parse(text).filters)
    except TemplateProblem:
        return []


def _analyze(text: str) -> tuple[Reference, ...]:
    try:
        analysis = parse(text).template.analyze(include_partials=False)
    except (TemplateProblem, *FAULTS):
        return ()
    paths = (one.segments for found in analysis.globals.values() for one in found)
    return tuple(dict.fromkeys(tuple(name if isinstance(name, str | int) else None for name in path) for path in paths))


_ENVIRONMENTS = {html: LiquidEnvironment(html=html) for html in (False, True)}
_cache: BoundedCache[tuple[str, bool], ParsedTemplate] = BoundedCache(
    limit=MAX_CACHED, weight_limit=MAX_CACHED_CHARACTERS, weigh=lambda key, _: len(key[0])
)
_references: Final[BoundedCache[str, tuple[Reference, ...]]] = BoundedCache(
    limit=MAX_CACHED, weight_limit=MAX_CACHED_CHARACTERS, weigh=lambda text, _: len(text)
)
