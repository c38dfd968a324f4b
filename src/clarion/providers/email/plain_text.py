"""Converting HTML to plain text, for the text alternative of an e-mail."""

import html
import re
from collections.abc import Callable, Iterator
from functools import lru_cache

# Linear time for any input: an element or comment that is not closed extends to the end. Only names ignore case,
# because that makes everything else slow.
_HIDDEN = re.compile(
    r"<(?:!--(?:[^-]++|-(?!->))*+(?:-->|\Z)"
    r"|(?i:(head|script|style|template|title)(?=[\s/>])(?:[^<]++|<(?!/\1\s*>))*+(?:</\1\s*>|\Z)))"
)
_NOTHING = "<!>"
"""Stands for what is hidden, so that nothing beside it becomes a tag."""
_RUN = re.compile(r"(?:<(?:/?[a-zA-Z]|[/!?])[^<>]*+>\s*+)+")
"""Tags with nothing but spaces between them: an e-mail has many, and most are the same in the next one."""
_MAX_CACHED_RUN = 2000
_MAX_CACHED_RUNS = 1024
# What tables are made of is one token.
_BOX = r"/?(?i:table|tbody|td|th|tr|div)(?=[\s/>])[^<>]*>"
_TOKEN = re.compile(rf"<(?:({_BOX}(?:\s*<{_BOX})*\s*)|(/?)([a-zA-Z][a-zA-Z0-9]*)([^<>]*)>|[/!?][^<>]*>)")
_BREAKING = re.compile(r"</?(?i:table|tr|div)(?=[\s/>])")
_TAG_OR_ENTITY = re.compile(r"<[A-Za-z/!][^<>]*>|&#?[A-Za-z0-9]{2,31};")
_ATTRIBUTE = re.compile(r"""\b(alt|href)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_SPACES = re.compile(r"[ \t\r\f\v\xa0]+")
_BLANK = ("", " ")
_EMPTY_LINES = re.compile(r"\n{3,}")
_PARAGRAPHS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "p"})
_BLOCKS = frozenset(
    {"address", "article", "blockquote", "footer", "form", "header", "hr", "li", "ol", "pre", "section", "tr", "ul"}
)


def is_html(content: str) -> bool:
    return _TAG_OR_ENTITY.search(content) is not None


def plain_text(document: str) -> str:
    """Return the text of the document, with its paragraphs, list items and link targets."""
    shown = _HIDDEN.sub(_NOTHING, document)
    writer = _Writer()
    position = 0
    for run in _RUN.finditer(shown):
        if run.start() > position:
            writer.write_text(shown[position : run.start()])
        position = run.end()
        tags = run[0]
        for write, value in _read_cached(tags) if len(tags) <= _MAX_CACHED_RUN else _read_tags(tags):
            write(writer, value)
    writer.write_text(shown[position:])
    return writer.text()


class _Writer:
    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._link = ""
        self._link_at = 0

    def text(self) -> str:
        lines = [_SPACES.sub(" ", line).strip() for line in "".join(self._pieces).split("\n")]
        return _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip() + "\n"

    def write_text(self, markup: str) -> None:
        self.write(html.unescape(markup) if "&" in markup else markup)

    def write(self, text: str) -> None:
        line = text.replace("\n", " ")
        # Of spaces one is enough, so that looking at the last pieces takes no time.
        self._pieces.append(line if line.strip(" ") else line[:1])

    def break_line(self, tag: str) -> None:
        if tag in _PARAGRAPHS:
            self._pieces.append("\n\n")
        elif tag == "br" or (tag in _BLOCKS and not self._is_line_start()):
            self._pieces.append("\n")

    def _is_line_start(self) -> bool:
        written = next((piece for piece in reversed(self._pieces[-3:]) if piece not in _BLANK), "")
        return written.endswith("\n")

    def open_link(self, link: str) -> None:
        self._link, self._link_at = link, len(self._pieces)

    def close_link(self, _: str) -> None:
        link, self._link = self._link, ""
        if not link.startswith(("http:", "https:", "mailto:")):
            return
        if link.removeprefix("mailto:") != "".join(self._pieces[self._link_at :]).strip():
            self._pieces.append(f" ({link})")


_Effect = tuple[Callable[[_Writer, str], None], str]
"""What a tag does to the text, and with what."""


def _read_tags(tags: str) -> list[_Effect]:
    effects: list[_Effect] = []
    position = 0
    for token in _TOKEN.finditer(tags):
        if token.start() > position:
            effects.append((_Writer.write, tags[position : token.start()]))
        position = token.end()
        effects += _read_token(token)
    if position < len(tags):
        effects.append((_Writer.write, tags[position:]))
    return effects


_read_cached = lru_cache(maxsize=_MAX_CACHED_RUNS)(_read_tags)


def _read_token(token: re.Match[str]) -> Iterator[_Effect]:
    boxes, is_end, tag, attributes = token[1], token[2], (token[3] or "").lower(), token[4]
    if boxes:
        # A new line where a row or a box begins or ends, else a space between cells.
        yield (_Writer.break_line, "tr") if _BREAKING.search(token[0]) else (_Writer.write, " ")
    elif tag == "a":
        yield (_Writer.close_link, "") if is_end else (_Writer.open_link, _attribute(attributes, "href"))
    elif tag == "img" and not is_end:
        yield _Writer.write, _attribute(attributes, "alt")
    elif tag and not (is_end and tag == "br"):
        yield _Writer.break_line, tag
        if tag == "li" and not is_end:
            yield _Writer.write, "- "


def _attribute(attributes: str, name: str) -> str:
    for attribute in _ATTRIBUTE.finditer(attributes):
        if attribute[1].lower() == name:
            return html.unescape(attribute[2] or attribute[3] or attribute[4] or "")
    return ""
