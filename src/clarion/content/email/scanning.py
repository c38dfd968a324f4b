"""Reads HTML with Liquid in it, tag by tag, in one pass: where tags and Liquid stand, and how deep elements nest."""

import re
from collections import Counter
from collections.abc import Iterator
from enum import Enum
from typing import Final

from msgspec import Struct

MAX_TAGS: Final = 5_000
MAX_DEPTH: Final = 100
"""Elements inside each other: the parsers below are recursive, and a crash of theirs ends the process."""

VOID: Final = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
    | {"mj-divider", "mj-image", "mj-spacer"}
)
_RAW: Final = frozenset({"script", "style", "textarea", "title", "xmp"})
_NEXT: Final = re.compile(r"\{\{|\{%|<!--|<!\[CDATA\[|<[!?]|</?[a-zA-Z]")
_NAME: Final = re.compile(r"</?([a-zA-Z][a-zA-Z0-9:-]*)")
_IN_TAG: Final = re.compile(r"\{\{|\{%|[\"'>]")
_IN_QUOTES: Final = {quote: re.compile(rf"\{{\{{|\{{%|{quote}") for quote in "\"'"}
_ENDS: Final = {"{{": "}}", "{%": "%}"}


class Where(Enum):
    """Where Liquid stands."""

    TEXT = "text"
    QUOTED = "quoted"
    """In the value of an attribute, between quotes."""
    IN_TAG = "in tag"
    RAW = "raw"
    """In an element whose content is not markup, such as `style`."""
    COMMENT = "comment"


class Piece(Struct, frozen=True):
    """A tag, or Liquid."""

    start: int
    end: int
    name: str = ""
    """Of the element, in lower case; empty for Liquid."""
    is_end: bool = False
    is_closed: bool = False
    """Whether the tag itself ends its element: `<br/>`."""
    where: Where = Where.TEXT
    """Of Liquid."""


class Unreadable(Exception):
    """The markup ends inside of a tag, a comment or Liquid; `start` is where that begins."""

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.start = start


def scan(markup: str) -> Iterator[Piece]:
    """Yield tags and Liquid in their order, Liquid before the tag that it stands in; raises Unreadable."""
    position = 0
    while sign_at := _NEXT.search(markup, position):
        start, sign = sign_at.start(), sign_at[0]
        if sign in _ENDS:
            position = _end_of(markup, _ENDS[sign], sign_at.end(), start)
            yield Piece(start, position)
        elif sign == "<!--":
            position = _end_of(markup, "-->", sign_at.end(), start)
            yield from _liquid_within(markup, sign_at.end(), position, Where.COMMENT)
        elif sign.startswith(("<!", "<?")):
            position = _end_of(markup, "]]>" if sign == "<![CDATA[" else ">", sign_at.end(), start)
        else:
            tag, inner = _read_tag(markup, start)
            yield from inner
            yield tag
            position = tag.end
            if tag.name in _RAW and not tag.is_end:
                position = _find_raw_end(markup, tag)
                yield from _liquid_within(markup, tag.end, position, Where.RAW)


def line_of(markup: str, position: int) -> int:
    return markup.count("\n", 0, position) + 1


def is_too_deep(markup: str) -> bool:
    """Return whether the elements could nest deeper than parsers bear, or are too many; raises Unreadable.

    An end that fits no open element closes nothing, so the count is never below the depth that a parser sees.
    """
    opened: Counter[str] = Counter()
    depth = tags = 0
    for piece in scan(markup):
        if not piece.name:
            continue
        tags += 1
        if piece.is_end:
            depth -= opened[piece.name] > 0
            opened[piece.name] -= opened[piece.name] > 0
        elif piece.name not in VOID and not piece.is_closed:
            depth += 1
            opened[piece.name] += 1
        if depth > MAX_DEPTH or tags > MAX_TAGS:
            return True
    return False


def _read_tag(markup: str, start: int) -> tuple[Piece, list[Piece]]:
    name = _NAME.match(markup, start)
    position = name.end() if name else start + 1
    inner: list[Piece] = []
    while sign_at := _IN_TAG.search(markup, position):
        sign = sign_at[0]
        if sign == ">":
            is_closed = markup[sign_at.start() - 1] == "/"
            tag_name = name[1].lower() if name else ""
            return Piece(start, sign_at.end(), tag_name, markup[start + 1] == "/", is_closed), inner
        if sign in _ENDS:
            position = _end_of(markup, _ENDS[sign], sign_at.end(), start)
            inner.append(Piece(sign_at.start(), position, where=Where.IN_TAG))
        else:
            position = _read_quoted(markup, sign_at.end(), sign, inner)
    raise Unreadable(start)


def _read_quoted(markup: str, start: int, quote: str, inner: list[Piece]) -> int:
    """Return where the value of an attribute ends; a quote inside of Liquid is none."""
    position = start
    while sign_at := _IN_QUOTES[quote].search(markup, position):
        if sign_at[0] == quote:
            return sign_at.end()
        position = _end_of(markup, _ENDS[sign_at[0]], sign_at.end(), sign_at.start())
        inner.append(Piece(sign_at.start(), position, where=Where.QUOTED))
    raise Unreadable(start - 1)


def _find_raw_end(markup: str, tag: Piece) -> int:
    end = re.compile(rf"</{tag.name}[\s/>]", re.IGNORECASE).search(markup, tag.end)
    if end is None:
        raise Unreadable(tag.start)
    return end.start()


def _liquid_within(markup: str, start: int, end: int, where: Where) -> Iterator[Piece]:
    position = start
    while sign_at := re.compile(r"\{\{|\{%").search(markup, position, end):
        position = _end_of(markup, _ENDS[sign_at[0]], sign_at.end(), sign_at.start())
        yield Piece(sign_at.start(), position, where=where)


def _end_of(markup: str, sign: str, position: int, start: int) -> int:
    end = markup.find(sign, position)
    if end < 0:
        raise Unreadable(start)
    return end + len(sign)
