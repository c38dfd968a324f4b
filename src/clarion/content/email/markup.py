"""HTML that people write, made ready for mail: links that a value makes are checked, style sheets are inlined.

The parser below moves text out of tables and does not know Liquid. Liquid is replaced before by what the parser leaves
where it is, and put back behind it; where that does not work out, the markup stays as it was.
"""

import re
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct

from clarion.content.email.scanning import MAX_DEPTH, Piece, Unreadable, Where, is_too_deep, scan

MAX_INLINED: Final = 256 << 10
"""Characters of markup whose style sheets are inlined."""
MAX_SHEETS: Final = 64 << 10
"""Characters of the style sheets."""
MAX_COMPARISONS: Final = 300_000
"""Selectors times tags: each is compared with each, which takes up to 0.3 s."""
MAX_REPEATED: Final = 32 << 20
"""Characters of the style sheets times tags: each tag may get all of them."""
MAX_FUNCTIONS: Final = 2
"""Selectors such as `:not(…)` in the selectors of one rule: inside each other, each doubles the comparisons."""

_LINK: Final = re.compile(
    r"""([\s/"'](?:href|src|action|formaction|background|poster|xlink:href)\s*=\s*)(["'])\s*\{[{%]""", re.IGNORECASE
)
_UNQUOTED: Final = re.compile(r"=[^\s\"'<>{=]*\{\{")
_OUTPUT: Final = re.compile(r"\{\{(-?)((?:(?!\}\}).)*?)(-?)\}\}", re.DOTALL)
# The next start ends the search for an end: otherwise each start without an end is followed through the whole text.
_SHEET: Final = re.compile(r"<style\b[^<>]*+>((?:[^<]++|<(?!style\b|/style))*+)</style", re.IGNORECASE)
_DOCUMENT: Final = re.compile(r"<(?:html|head|body)[\s>]", re.IGNORECASE)
_ROOT: Final = re.compile(r"<html\b((?:[^<>{]|\{(?![{%]))*)>", re.IGNORECASE)
_LANGUAGE: Final = {"lang": ' lang="{{ locale | _language }}"', "dir": ' dir="{{ locale | _direction }}"'}
_DOCTYPE: Final = re.compile(r"\s*<!doctype[^<>]*>", re.IGNORECASE)
_HEAD: Final = re.compile(r"<head>(.*?)</head>", re.DOTALL)
_BODY: Final = re.compile(r"<body>(.*)</body>", re.DOTALL)
_BRACES: Final = r"\{\{(?:[^{}]++|\{(?!\{)|\}(?!\}))*+\}\}|\{%(?:[^{%]++|\{(?!%)|%(?!\}))*+%\}"
_QUOTE: Final = {quote: re.compile(f"{_BRACES}|{quote}") for quote in "\"'"}
_SKIPPED_IN_SHEETS: Final = re.compile(
    r"""/\*(?:[^*]++|\*(?!/))*+(?:\*/)?|"(?:[^"\\\n\r\f]++|\\(?:\r\n|.))*+"?|'(?:[^'\\\n\r\f]++|\\(?:\r\n|.))*+'?"""
    r"""|(\\(?:\r\n|.))""",
    re.DOTALL,
)
"""Comments and strings; the group is an escape outside of them, so that its sign begins neither."""
_OPEN_ADDRESS: Final = re.compile(r"""url\(\s*+[^\s"')][^)("'\\]*+[("'\\]""", re.IGNORECASE)
"""An address without quotes with a sign in it that would begin a string elsewhere."""
_ESCAPED_NAME: Final = re.compile(r"\\\w")
_FUNCTION: Final = re.compile(r":[\w\\-]+\(")
_MARKER: Final = re.compile(r"<!--lqc(\d{5})z-->|lqw(\d{5})z")


def clean_markup(markup: str, *, is_layout: bool = False) -> str:
    """Return the markup with checked links and inlined styles; a layout keeps its sheets for what stands in it.

    Raises Unreadable where a value in a tag could do harm, because the tag does not end.
    """
    checked = guard_links(quote_values(markup))
    return inline_styles(checked, is_layout=is_layout) if "<style" in checked.lower() else checked


def quote_values(markup: str) -> str:
    """Put quotes around values of attributes that have none, so that a space in a value does not end them.

    Raises Unreadable if a value without quotes may stand in what cannot be read.
    """
    if not _UNQUOTED.search(markup):
        return markup
    liquid = _liquid_in_tags(markup)
    ends = {piece.start: piece.end for piece in liquid}
    texts, position, least = [], 0, 0
    for piece in liquid:
        start = _find_value_start(markup, piece.start, least) if piece.start >= position else None
        least = max(least, piece.end)
        if start is not None:
            end = piece.end
            while end in ends or (end < len(markup) and not (markup[end].isspace() or markup[end] == ">")):
                end = ends.get(end, end + 1)
            texts += [markup[position:start], f'"{markup[start:end]}"']
            position = least = end
    return "".join([*texts, markup[position:]])


def _liquid_in_tags(markup: str) -> list[Piece]:
    pieces: list[Piece] = []
    try:
        for piece in scan(markup):
            pieces.append(piece)  # noqa: PERF402 - those before what cannot be read are kept
    except Unreadable:
        if _UNQUOTED.search(markup, pieces[-1].end if pieces else 0):
            raise
    return [piece for piece in pieces if piece.where is Where.IN_TAG]


def _find_value_start(markup: str, place: int, least: int) -> int | None:
    """Return where the value of an attribute without quotes begins that reaches to a place."""
    start = place
    while start > least and not (markup[start - 1].isspace() or markup[start - 1] in "=<>\"'"):
        start -= 1
    return start if start > least and markup[start - 1] == "=" else None


def guard_links(markup: str) -> str:
    """Let no value decide the scheme of a link: an address that begins with one is checked when it is rendered.

    Raises Unreadable if such an address does not end.
    """
    if not _LINK.search(markup):
        return markup
    pieces, position = [], 0
    while match := _LINK.search(markup, position):
        start = match.end(2)
        end = _find_quote(markup, start, match[2])
        if end is None:
            raise Unreadable(match.start())
        pieces += [markup[position:start], _guarded(markup[start:end])]
        position = end
    return "".join([*pieces, markup[position:]])


def with_language(markup: str) -> str:
    """Say in which language and direction a whole document is, unless it does so itself."""
    match = _ROOT.search(markup)
    if match is None:
        return markup
    given = match[1].lower()
    missing = [text for name, text in _LANGUAGE.items() if not re.search(rf"\s{name}\s*=", given)]
    return f"{markup[: match.end(1)]}{''.join(missing)}{markup[match.end(1) :]}"


def inline_styles(markup: str, *, is_layout: bool = False) -> str:
    """Move the rules of style sheets into the elements; rules for some screens only stay in a sheet."""
    if not _has_rules(markup):
        return markup
    protected = _prepare(markup)
    inlined = None if isinstance(protected, str) else _inline(protected.markup, is_layout=is_layout)
    return markup if isinstance(protected, str) or inlined is None else _restore(inlined, protected) or markup


def explain_no_inlining(markup: str) -> str | None:
    """Return why style sheets of the markup stay as they are, or None if they are inlined."""
    if not _has_rules(markup):
        return None
    reason = _prepare(markup)
    return reason if isinstance(reason, str) else None


def _prepare(markup: str) -> "_Protected | str":
    """Return the markup as it can be inlined, or why it cannot."""
    if _is_too_much(markup):
        return f"it is longer than {MAX_INLINED >> 10} KB, or has too many rules for so many elements"
    try:
        if is_too_deep(markup):
            return f"it has too many elements, or more than {MAX_DEPTH} inside each other"
        protected = _protect(markup)
    except Unreadable:
        return "a tag in it does not end"
    if protected is None:
        return "Liquid stands between the attributes of a tag, or is a condition in a style sheet"
    if _has_costly_selectors(protected.markup):
        return f"a rule has more than {MAX_FUNCTIONS} selectors such as :not(), or an escaped name"
    return protected


def _has_rules(markup: str) -> bool:
    return any(sheet.strip() for sheet in _SHEET.findall(markup))


def _is_too_much(markup: str) -> bool:
    sheets = "".join(_SHEET.findall(markup))
    selectors, tags = sheets.count("{") + sheets.count(","), markup.count("<")
    if len(markup) > MAX_INLINED or len(sheets) > MAX_SHEETS:
        return True
    return selectors * tags > MAX_COMPARISONS or len(sheets) * tags > MAX_REPEATED


def _has_costly_selectors(markup: str) -> bool:
    """Return whether comparing an element with a rule could take long, or the sheets cannot be read with certainty."""
    texts = _SHEET.findall(markup)
    if len(texts) != markup.lower().count("<style"):
        return True
    sheets = "\n".join(texts)
    if _OPEN_ADDRESS.search(sheets):
        return True
    plain = _SKIPPED_IN_SHEETS.sub(lambda match: match[1] or " ", sheets)
    if _ESCAPED_NAME.search(plain):
        return True
    return any(len(_FUNCTION.findall(rule.rpartition("}")[2])) > MAX_FUNCTIONS for rule in plain.split("{")[:-1])


def _find_quote(markup: str, start: int, quote: str) -> int | None:
    """Return where a quoted value ends; quotes inside of Liquid do not end it."""
    position = start
    while match := _QUOTE[quote].search(markup, position):
        if match[0] == quote:
            return match.start()
        position = match.end()
    return None


def _guarded(value: str) -> str:
    single = _OUTPUT.fullmatch(value.strip())
    if single:
        return f"{{{{{single[1]}{single[2].rstrip()} | _link {single[3]}}}}}"
    return f"{{% capture _text %}}{value}{{% endcapture %}}{{{{ _text | _link }}}}"


class _Protected(Struct, frozen=True):
    markup: str
    liquid: list[str]
    """What the markers stand for, by their numbers."""
    in_sheets: frozenset[int]
    """Those in style sheets: inlining repeats them."""


def _protect(markup: str) -> _Protected | None:
    """Replace Liquid by comments between elements, and by words elsewhere; None where neither would stay."""
    texts: list[str] = []
    liquid: list[str] = []
    in_sheets: set[int] = set()
    position = 0
    for piece in scan(markup):
        if piece.name:
            continue
        text = markup[piece.start : piece.end]
        if piece.where is Where.IN_TAG or (piece.where is Where.RAW and text.startswith("{%")):
            return None
        if piece.where is Where.RAW:
            in_sheets.add(len(liquid))
        marker = f"<!--lqc{len(liquid):05}z-->" if piece.where is Where.TEXT else f"lqw{len(liquid):05}z"
        texts += [markup[position : piece.start], marker]
        liquid.append(text)
        position = piece.end
    return _Protected("".join([*texts, markup[position:]]), liquid, frozenset(in_sheets))


def _inline(markup: str, *, is_layout: bool) -> str | None:
    try:
        inlined = str(_inliner(is_layout).inline(markup))
    except ValueError:
        return None
    if _DOCUMENT.search(markup):
        doctype = _DOCTYPE.match(markup)
        return doctype[0].strip() + inlined if doctype and not _DOCTYPE.match(inlined) else inlined
    head, body = _HEAD.search(inlined), _BODY.search(inlined)
    return None if head is None or body is None else head[1] + body[1]


def _restore(markup: str, protected: _Protected) -> str | None:
    """Put Liquid back; None if not all of it is there, once and in its order."""
    numbers = [int(marker[1] or marker[2]) for marker in _MARKER.finditer(markup)]
    match = [number for number in numbers if number not in protected.in_sheets]
    if match != [number for number in range(len(protected.liquid)) if number not in protected.in_sheets]:
        return None
    if numbers and max(numbers) >= len(protected.liquid):
        return None
    return _MARKER.sub(lambda marker: protected.liquid[int(marker[1] or marker[2])], markup)


@lru_cache(maxsize=2)
def _inliner(is_layout: bool) -> Any:  # noqa: FBT001 - a key of the cache
    import css_inline  # noqa: PLC0415 - 10 MB that only bodies with style sheets need

    # Neither the network nor files: a style sheet by address stays a link.
    return css_inline.CSSInliner(
        keep_style_tags=is_layout,
        keep_at_rules=True,
        keep_link_tags=True,
        load_remote_stylesheets=False,
    )
