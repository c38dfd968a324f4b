"""Checks of saved bodies: what keeps them from being sent, and what people would not see as it is meant."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import chain, islice
from typing import Final

from msgspec import Struct

from clarion.cache import BoundedCache
from clarion.content.email.blocks.contrast import find_contrast_problem
from clarion.content.email.blocks.document import is_block_document
from clarion.content.email.compose import MAX_CACHED_CHARACTERS, CompiledBody, EditorType, compile_body, has_slot
from clarion.content.email.markup import explain_no_inlining
from clarion.content.email.mjml import is_mjml
from clarion.content.email.problems import BodyProblem
from clarion.content.email.scanning import MAX_TAGS, VOID, Piece, Unreadable, Where, line_of, scan
from clarion.templates import check_template

CLIPPED_AT: Final = 102 << 10
"""Bytes of HTML after which Gmail cuts a message off."""

_MAX_WARNINGS: Final = 20
_MAX_IN_LINK: Final = 50
"""Tags and Liquid that are looked through for the end of a link."""
_CLOSING: Final = frozenset(
    {"a", "b", "big", "blockquote", "body", "center", "div", "em", "font", "head", "html", "i", "ol", "s", "small"}
    | {"h1", "h2", "h3", "h4", "h5", "h6", "span", "strong", "style", "sub", "sup", "table", "title", "u", "ul"}
)
"""Elements whose end may not be left out."""
_BRANCHES: Final = re.compile(r"\{%-?\s*(?:if|elsif|else|unless|case|when)\b")
_ATTRIBUTE: Final = re.compile(r"""\s([a-zA-Z-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_COLOR_OF: Final = {
    name: re.compile(rf"(?:^|;)\s*{name}\s*:\s*([^;!]+)", re.IGNORECASE)
    for name in ("color", "background", "background-color")
}
_CONTENT: Final = re.compile(r"<[^<>]*>|\s|&nbsp;")


class CheckedBody(Struct, frozen=True):
    problems: tuple[BodyProblem, ...]
    uses: tuple[tuple[str, str], ...] | None
    """See CompiledBody."""


def check_body(body: str, editor_type: EditorType | None, *, is_layout: bool = False) -> CheckedBody:
    """Return the problems and warnings of a saved body, from the cache if they are there."""
    key = (body, editor_type, is_layout)
    checked = _checked.get(key)
    if checked is None:
        compiled = compile_body(body, editor_type, is_layout=is_layout)
        checked = CheckedBody(tuple(_problems(body, editor_type, compiled, is_layout=is_layout)), compiled.uses)
        _checked.put(key, checked)
    return checked


def list_templates(body: str) -> Sequence[tuple[str, str]]:
    """The templates in a body with their paths: of a block document those that its nodes make, else the body."""
    if not is_block_document(body):
        return [("body", body)]
    return check_body(body, EditorType.BLOCK).uses or ()


def _problems(
    body: str, editor_type: EditorType | None, compiled: CompiledBody, *, is_layout: bool
) -> Iterator[BodyProblem]:
    yield from compiled.problems
    if compiled.faults:
        return
    yield from _template_problems(compiled)
    yield from _kind_problems(body, editor_type)
    if is_layout and not has_slot(body):
        yield BodyProblem("body", "has no place for the content of a step: add {{content}}, or the variable 'content'")
    size = len(compiled.markup.encode())
    if size > CLIPPED_AT:
        limit = f"Gmail cuts messages off at {CLIPPED_AT >> 10} KB"
        yield _warning(f"makes {size >> 10} KB of HTML before values are put in: {limit}")
    if compiled.uses is None and (body.lstrip().startswith("<") or "</" in body):
        yield from _markup_warnings(body, editor_type, compiled.markup)


def _template_problems(compiled: CompiledBody) -> Iterator[BodyProblem]:
    """Name the node whose Liquid is wrong, if it is wrong by itself."""
    fault = None if compiled.uses is None else check_template(compiled.markup)
    if compiled.uses is None or fault is None:
        return
    for path, template in compiled.uses:
        own = check_template(template)
        if own is not None:
            yield BodyProblem(path, own, is_template=True)
            return
    yield BodyProblem("body", fault, is_template=True)


def _kind_problems(body: str, editor_type: EditorType | None) -> Iterator[BodyProblem]:
    if is_block_document(body):
        if editor_type not in (None, EditorType.BLOCK):
            message = f"says '{editor_type}', but the body is a block document, and is sent as one; say 'block'"
            yield BodyProblem("editorType", message, is_warning=True)
    elif editor_type is EditorType.BLOCK:
        message = "says 'block', but the body is no block document, and is sent as HTML; say 'html'"
        yield BodyProblem("editorType", message, is_warning=True)
    elif editor_type is not EditorType.MJML and is_mjml(body):
        message = "must be 'mjml': the body is MJML, and mail programs do not know its elements"
        yield BodyProblem("editorType", message)


def _markup_warnings(body: str, editor_type: EditorType | None, markup: str) -> Iterator[BodyProblem]:
    if editor_type is not EditorType.MJML and (reason := explain_no_inlining(body)):
        yield _warning(f"has style sheets that are not put into its elements, so some programs ignore them: {reason}")
    try:
        pieces = _first_pieces(markup)
    except Unreadable as unreadable:
        yield _warning(f"line {line_of(markup, unreadable.start)}: a tag, a comment or Liquid does not end")
        return
    if pieces is None:
        yield _warning(f"has more than {MAX_TAGS} tags, and is not checked")
        return
    warnings = _element_warnings(markup, pieces)
    if editor_type is not EditorType.MJML and not _BRANCHES.search(markup):
        warnings = chain(warnings, _unclosed(pieces))
    for position, message in islice(warnings, _MAX_WARNINGS):
        # Lines of compiled MJML are not those of its source.
        place = "" if editor_type is EditorType.MJML else f"line {line_of(markup, position)}: "
        yield _warning(place + message)


def _first_pieces(markup: str) -> list[Piece] | None:
    pieces = []
    for piece in scan(markup):
        pieces.append(piece)
        if len(pieces) > MAX_TAGS:
            return None
    return pieces


def _element_warnings(markup: str, pieces: Sequence[Piece]) -> Iterator[tuple[int, str]]:
    for number, piece in enumerate(pieces):
        if not piece.name:
            if piece.where is Where.IN_TAG and markup.startswith("{{", piece.start):
                yield (
                    piece.start,
                    "a value stands between the attributes of a tag, or without quotes, and may add attributes",
                )
        elif piece.name == "img" and "alt" not in _attributes_of(markup[piece.start : piece.end]):
            yield piece.start, "a picture has no 'alt': say what it shows, or give it an empty one if it is decoration"
        elif piece.name == "a" and not piece.is_end:
            link = pieces[number : number + _MAX_IN_LINK]
            yield from ((piece.start, message) for message in _link_warnings(markup, link))


def _link_warnings(markup: str, link: Sequence[Piece]) -> Iterator[str]:
    """What is wrong with a link, given its tag and what follows."""
    attributes = _attributes_of(markup[link[0].start : link[0].end])
    is_anchor = "href" not in attributes and ("name" in attributes or "id" in attributes)
    if not is_anchor and attributes.get("href", "").strip() in ("", "#"):
        yield "a link has no address"
    end = next((piece for piece in link if piece.name == "a" and piece.is_end), None)
    inner = "" if end is None else markup[link[0].end : end.start]
    if end is not None and not is_anchor and not _CONTENT.sub("", inner) and "<img" not in inner.lower():
        yield "a link has no text"
    style = attributes.get("style", "")
    color = _COLOR_OF["color"].search(style)
    background = _COLOR_OF["background-color"].search(style) or _COLOR_OF["background"].search(style)
    problem = find_contrast_problem(color[1], background[1]) if color and background else None
    if problem is not None:
        yield problem


def _attributes_of(tag: str) -> dict[str, str]:
    match = {one[1].lower(): unescape(one[2] or one[3] or one[4] or "") for one in _ATTRIBUTE.finditer(tag)}
    return match | ({"alt": ""} if re.search(r"\salt[\s/>]", tag) else {})


def _unclosed(pieces: Sequence[Piece]) -> Iterator[tuple[int, str]]:
    opened: list[Piece] = []
    names: Counter[str] = Counter()
    for piece in pieces:
        if piece.name not in _CLOSING or piece.name in VOID or piece.is_closed:
            continue
        if not piece.is_end:
            opened.append(piece)
            names[piece.name] += 1
        elif not names[piece.name]:
            yield piece.start, f"</{piece.name}> ends nothing"
        else:
            while (last := opened.pop()).name != piece.name:
                names[last.name] -= 1
                yield last.start, f"<{last.name}> is not closed"
            names[piece.name] -= 1
    yield from ((piece.start, f"<{piece.name}> is not closed") for piece in opened)


def _warning(message: str) -> BodyProblem:
    return BodyProblem("body", message, is_warning=True)


def _weigh(key: tuple[str, EditorType | None, bool], checked: CheckedBody) -> int:
    return len(key[0]) + sum(len(path) + len(template) for path, template in checked.uses or ())


_checked: Final[BoundedCache[tuple[str, EditorType | None, bool], CheckedBody]] = BoundedCache(
    limit=1024, weight_limit=MAX_CACHED_CHARACTERS, weigh=_weigh
)
