"""Checking templates and making texts of them."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

from liquid import BoundTemplate
from liquid.exceptions import LiquidError, LiquidInterrupt

from clarion.errors import ClarionError
from clarion.templates.dialect import LONGEST_OUTPUT, Context, Dialect, Text

MOST_KEPT: Final = 4096
"""Parsed templates that are kept, and below the characters that they may have together."""
MOST_KEPT_CHARACTERS: Final = 4 << 20

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
    template = parse(text, html=html)
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
        return render_text(value, variables, html=html)
    if isinstance(value, Mapping):
        return {name: render_value(item, variables, html=html) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [render_value(item, variables, html=html) for item in value]
    return value


def parse(text: str, *, html: bool = False) -> BoundTemplate:
    """A template, parsed once while it is in use; raises TemplateProblem."""
    found = _kept.find((text, html))
    if found is None:
        if len(text) > LONGEST_OUTPUT:
            raise TemplateProblem(f"it is longer than {LONGEST_OUTPUT} characters")
        try:
            found = _DIALECTS[html].from_string(text)
        except FAULTS as fault:
            raise TemplateProblem(explain_fault(fault)) from None
        _kept.keep((text, html), found)
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


class _Kept:
    """The parsed templates used last, bounded by number and by characters."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._templates: OrderedDict[tuple[str, bool], BoundTemplate] = OrderedDict()
        self._characters = 0

    def find(self, key: tuple[str, bool]) -> BoundTemplate | None:
        with self._lock:
            found = self._templates.get(key)
            if found is not None:
                self._templates.move_to_end(key)
            return found

    def keep(self, key: tuple[str, bool], template: BoundTemplate) -> None:
        with self._lock:
            if key not in self._templates:
                self._characters += len(key[0])
            self._templates[key] = template
            while len(self._templates) > MOST_KEPT or self._characters > MOST_KEPT_CHARACTERS:
                (text, _), _ = self._templates.popitem(last=False)
                self._characters -= len(text)


_DIALECTS = {html: Dialect(html=html) for html in (False, True)}
_kept = _Kept()
