"""MJML, compiled to HTML; Liquid in its texts, attributes and `mj-raw` survives.

Liquid is replaced by words before, because it is no XML, and put back behind.
"""

import re
from typing import Final
from xml.parsers.expat import ExpatError, ParserCreate

from msgspec import Struct

from clarion.content.email.markup import guard_links
from clarion.content.email.problems import BodyProblem
from clarion.content.email.scanning import MAX_DEPTH, MAX_TAGS, Unreadable, is_too_deep, line_of, scan
from clarion.work import note_parsing

MAX_MJML: Final = 256 << 10
"""Characters."""
MAX_REPEATED: Final = 4 << 20
"""Characters of the longest tag times tags: attributes of one tag may become those of all."""

_MARKER: Final = re.compile(r"lqm(\d{5})z")
_INCLUDE: Final = re.compile(r"<mj-include\b", re.IGNORECASE)
_LEFT_OVER: Final = re.compile(r"<(mj-[a-z-]+)")
_START: Final = re.compile(r"\s*+(?:<!--(?:[^-]++|-(?!->))*+-->\s*+)*+<mjml[\s>]")
_ENTITY: Final = re.compile(r"&(?!amp;|lt;|gt;|quot;|apos;|#)")
_POSITION: Final = re.compile(r"position (\d+)")
_HEAD: Final = re.compile(r"<head>.*?</head>", re.DOTALL)
_BODY: Final = re.compile(r"<body\b[^<>]*>(.*)</body>", re.DOTALL)
_SHEET: Final = re.compile(r"<style\b(?:[^<]++|<(?!style\b|/style>))*+</style>")
_CHARACTERS_A_STEP: Final = 200
_LANGUAGE: Final = 'lang="{{ locale | _language }}" dir="{{ locale | _direction }}"'
_ROOT: Final = re.compile(r'<html lang="und" dir="auto"')
_ARTICLE: Final = re.compile(r'(<div aria-roledescription="email" role="article" )lang="und" dir="auto"')


class CompiledMjml(Struct, frozen=True):
    markup: str
    """A template over HTML."""
    problem: BodyProblem | None = None


def is_mjml(body: str) -> bool:
    """Return whether a body looks like MJML."""
    return _START.match(body) is not None


def compile_mjml(body: str) -> CompiledMjml:
    """Compile MJML, or say what is wrong with it."""
    problem = _find_excess(body)
    if problem is not None:
        return CompiledMjml("", problem)
    try:
        protected, liquid = _protect(body)
    except Unreadable as unreadable:
        return _failed(f"line {line_of(body, unreadable.start)}: a tag, a comment or Liquid does not end")
    from mjml import mjml2html  # noqa: PLC0415 - 5 MB that only MJML needs

    note_parsing(len(body) // _CHARACTERS_A_STEP)
    # Without the fonts that the library would load from elsewhere; mj-font names those that are wanted.
    try:
        markup = mjml2html(protected, fonts={}, include_loader=_refuse_include)
    except (ValueError, OSError) as error:
        return _failed(_explain(protected, str(error)))
    if left_over := _LEFT_OVER.search(markup):
        line = line_of(body, max(body.find(f"<{left_over[1]}"), 0))
        return _failed(f"line {line}: there is no element '{left_over[1]}' at this place")
    return _restore(markup, liquid, body)


def part_of(markup: str) -> str:
    """Return what stands in the body of compiled MJML, with its style sheets."""
    head, body = _HEAD.search(markup), _BODY.search(markup)
    if head is None or body is None:
        return markup
    return "".join(_SHEET.findall(head[0])) + body[1]


def _find_excess(body: str) -> BodyProblem | None:
    if len(body) > MAX_MJML:
        return _problem(f"must not be longer than {MAX_MJML >> 10} KB of MJML")
    if not is_mjml(body):
        return _problem("is no MJML: it must begin with <mjml>; or say editorType 'html'")
    if match := _INCLUDE.search(body):
        line = line_of(body, match.start())
        return _problem(f"line {line}: mj-include is not possible, there are no files; put the markup here")
    try:
        if is_too_deep(body):
            return _problem(f"has more than {MAX_TAGS} tags, or {MAX_DEPTH} elements inside each other")
        lengths = [piece.end - piece.start for piece in scan(body) if piece.name]
    except Unreadable as unreadable:
        line = line_of(body, unreadable.start)
        return _problem(f"line {line}: a tag, a comment or Liquid does not end")
    if max(lengths, default=0) * len(lengths) > MAX_REPEATED:
        return _problem(f"has a tag with {max(lengths)} characters, which is too long among {len(lengths)} tags")
    return None


def _protect(body: str) -> tuple[str, list[str]]:
    texts: list[str] = []
    liquid: list[str] = []
    position = 0
    for piece in scan(body):
        if not piece.name:
            texts += [body[position : piece.start], f"lqm{len(liquid):05}z"]
            liquid.append(body[piece.start : piece.end])
            position = piece.end
    return "".join([*texts, body[position:]]), liquid


def _restore(markup: str, liquid: list[str], body: str) -> CompiledMjml:
    match = {int(marker[1]) for marker in _MARKER.finditer(markup)}
    lost = next((number for number in range(len(liquid)) if number not in match), None)
    if lost is not None:
        line = line_of(body, max(body.find(liquid[lost]), 0))
        return _failed(f"line {line}: {liquid[lost][:60]} stands where MJML has no text; put it into mj-raw or mj-text")
    restored = _MARKER.sub(lambda marker: liquid[int(marker[1])] if int(marker[1]) < len(liquid) else marker[0], markup)
    translated = _ARTICLE.sub(rf"\1{_LANGUAGE}", _ROOT.sub(f"<html {_LANGUAGE}", restored, count=1), count=1)
    try:
        return CompiledMjml(guard_links(translated))
    except Unreadable:
        return _failed("a value stands in the address of a link that does not end")


def _explain(body: str, reason: str) -> str:
    """Say what the compiler match, with the line: it names none itself, or a position."""
    # Without entities of its own, a document cannot make the parser expand them.
    if "<!DOCTYPE" not in body and "<!ENTITY" not in body:
        try:
            ParserCreate().Parse(_ENTITY.sub("&amp;", body), True)  # noqa: FBT003 - it takes it by place alone
        except ExpatError as error:
            return f"line {error.lineno}: {str(error).partition(':')[0]}"
    position = _POSITION.search(reason)
    line = f"line {line_of(body, min(int(position[1]), len(body)))}: " if position else ""
    return f"{line}{reason.partition(' in root template')[0]}"


def _refuse_include(path: str) -> str:
    raise ValueError(f"cannot include '{path}'")


def _failed(reason: str) -> CompiledMjml:
    return CompiledMjml("", _problem(reason))


def _problem(reason: str) -> BodyProblem:
    return BodyProblem("body", reason if reason.startswith(("must", "is no", "has")) else f"is no valid MJML, {reason}")
