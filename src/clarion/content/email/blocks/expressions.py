"""Turns what a document says with variables into templates: names, texts with variables in them, links, conditions."""

import re
from html import escape
from typing import Final

from msgspec import Struct

# The next start ends the search for an end: otherwise each start without an end is followed through the whole text.
_TAGS: Final = re.compile(r"(\{\{(?:[^{}]++|\{(?!\{)|\}(?!\}))*+\}\}|\{%(?:[^{%]++|\{(?!%)|%(?!\}))*+%\})")
_OUTPUT: Final = re.compile(r"\s*\{\{-?((?:(?!\{\{|\}\}|\{%|%\}).)*?)-?\}\}\s*", re.DOTALL)
_DELIMITERS: Final = ("{{", "}}", "{%", "%}")
_SPACES: Final = re.compile(r" (?= )")
MAX_NAME: Final = 256
"""Characters of the name of a variable: it is written wherever the variable stands."""
CURRENT: Final = "current"
"""The item of a repeat, inside of it."""


class Repeat(Struct, frozen=True):
    """The list that a part of a document is repeated for."""

    path: str
    """The variable, without filters."""


class Expression(Struct, frozen=True):
    """A value of a document as Liquid, without braces."""

    liquid: str
    setup: str = ""
    """What stands before it."""
    check: str = ""
    """A template with the same variables, as they are named outside of a repeat."""


def read_name(name: str, alias: str, repeat: Repeat | None) -> Expression | None:
    """Return the expression of a variable's name, which may have filters; None if it is none.

    Inside a repeat, the path of the list stands for its current item.
    """
    braced = _OUTPUT.fullmatch(name)
    inner = (braced[1] if braced else name).strip()
    if not inner or any(sign in inner for sign in _DELIMITERS):
        return None
    meant = _with_alias(inner, alias.strip())
    if repeat is None:
        return Expression(meant, check=f"{{{{ {meant} }}}}")
    path, filters = _split(meant)
    rest = _inside(path, repeat.path)
    if rest is None:
        rest = _inside(path, CURRENT)
    if rest is None:
        return Expression(meant, check=f"{{{{ {meant} }}}}")
    return Expression(f"{CURRENT}{rest}{filters}", check=f"{{{{ {repeat.path}[0]{rest}{filters} }}}}")


def with_fallback(expression: Expression, fallback: str) -> Expression:
    """Add what stands for a value that is absent or empty; it may have variables itself."""
    if not fallback:
        return expression
    check = expression.check + "".join(_TAGS.findall(fallback))
    if not _TAGS.search(fallback) and not any(sign in fallback for sign in (*_DELIMITERS, "'")):
        return Expression(f"{expression.liquid} | default: '{escape(fallback)}'", expression.setup, check)
    setup = f"{{% capture _fallback %}}{text_markup(fallback)}{{% endcapture %}}"
    return Expression(f"{expression.liquid} | default: _fallback", expression.setup + setup, check)


def output(expression: Expression, filter_name: str = "") -> str:
    """Return the template that writes an expression."""
    filtered = f"{expression.liquid} | {filter_name}" if filter_name else expression.liquid
    return f"{expression.setup}{{{{ {filtered} }}}}"


def text_markup(text: str) -> str:
    """Escape a text, but for the Liquid in it; runs of spaces stay."""
    pieces = _TAGS.split(text)
    pieces[::2] = [_SPACES.sub("&nbsp;", escape(piece, quote=False)) for piece in pieces[::2]]
    return "".join(pieces)


def attribute_markup(text: str) -> str:
    """Return a text as the value of an attribute, without the quotes; values in it cannot end the attribute."""
    if not has_liquid(text):
        return escape(text)
    return _written(text, "_attribute")


def link_attribute(name: str, address: str) -> str:
    """Return ` href="…"` or ` src="…"` for an address with Liquid: nothing if it comes to another scheme."""
    return _written(address, f"_{name}")


def has_liquid(text: str) -> bool:
    return "{{" in text or "{%" in text


def condition(expression: Expression, markup: str) -> str:
    """Show markup only if the value of an expression is not empty, zero, false or null."""
    test = f"{{% assign _shown = {expression.liquid} | _is_shown %}}"
    return f"{expression.setup}{test}{{% if _shown %}}{markup}{{% endif %}}"


def loop(items: Expression, path: str, limit: int, markup: str) -> str:
    """Repeat markup for each item of a list, or for the first ones."""
    quote = '"' if "'" in path else "'"
    name = quote + path.replace(quote, "") + quote
    assign = f"{{% assign _items = {items.liquid} | _items: {name} %}}"
    first = f" limit: {limit}" if limit > 0 else ""
    return f"{assign}{{% for {CURRENT} in _items{first} %}}{markup}{{% endfor %}}"


def repeat_of(items: Expression) -> Repeat:
    return Repeat(_split(items.liquid)[0])


def _written(text: str, filter_name: str) -> str:
    single = _OUTPUT.fullmatch(text)
    if single:
        return f"{{{{ {single[1].strip()} | {filter_name} }}}}"
    # Captured first, so that only the whole is judged: what it begins with may be a value.
    return f"{{% capture _text %}}{text_markup(text)}{{% endcapture %}}{{{{ _text | {filter_name} }}}}"


def _with_alias(name: str, alias: str) -> str:
    """Return the alias in the place of the name; filters are of either."""
    if not alias or any(sign in alias for sign in _DELIMITERS):
        return name
    return alias if "|" in alias else alias + _split(name)[1]


def _split(expression: str) -> tuple[str, str]:
    """Split a name from its filters."""
    path, bar, filters = expression.partition("|")
    return path.strip(), f" {bar}{filters}" if bar else ""


def _inside(path: str, base: str) -> str | None:
    """Return what follows the base in a path, or None if the path is not in it; an index that is there stays."""
    if path == base:
        return ""
    return path[len(base) :] if path.startswith(f"{base}.") else None
