"""Converting HTML to plain text, for the text alternative of an e-mail."""

import html
import re

# Linear time for any input: an element or comment that is not closed extends to the end. What tables are made of comes
# in runs of tags, of which an e-mail has many. Only names ignore case, because that makes everything else slow.
_BOX = r"/?(?i:table|tbody|td|th|tr|div)(?=[\s/>])[^<>]*>"
_TOKEN = re.compile(
    r"<(?:!--(?:.*?-->|.*\Z)"
    rf"|({_BOX}(?:\s*<{_BOX})*\s*)"
    r"|(?i:(head|script|style|template|title)(?=[\s/>])(?:.*?</\2\s*>|.*\Z))"
    r"|(/?)([a-zA-Z][a-zA-Z0-9]*)([^<>]*)>"
    r"|[/!?][^<>]*>)",
    re.DOTALL,
)
_BREAKING = re.compile(r"</?(?i:table|tr|div)(?=[\s/>])")
_TAG_OR_ENTITY = re.compile(r"<[A-Za-z/!][^<>]*>|&#?[A-Za-z0-9]{2,31};")
_ATTRIBUTE = re.compile(r"""\b(alt|href)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_SPACES = re.compile(r"[ \t\r\f\v\xa0]+")
_EMPTY_LINES = re.compile(r"\n{3,}")
_PARAGRAPHS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "p"})
_BLOCKS = frozenset(
    {"address", "article", "blockquote", "footer", "form", "header", "hr", "li", "ol", "pre", "section", "tr", "ul"}
)


def is_html(content: str) -> bool:
    return _TAG_OR_ENTITY.search(content) is not None


def plain_text(document: str) -> str:
    """Return the text of the document, with its paragraphs, list items and link targets."""
    writer = _Writer()
    position = 0
    for token in _TOKEN.finditer(document):
        if token.start() > position:
            writer.write(document[position : token.start()])
        position = token.end()
        tag = (token[4] or "").lower()
        if token[1]:
            writer.write_boxes(token[0])
        elif token[3]:
            writer.close(tag)
        elif tag:
            writer.open(tag, token[5])
    writer.write(document[position:])
    return writer.text()


class _Writer:
    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._link = ""
        self._link_at = 0

    def text(self) -> str:
        lines = [_SPACES.sub(" ", line).strip() for line in "".join(self._pieces).split("\n")]
        return _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip() + "\n"

    def write(self, text: str) -> None:
        decoded = html.unescape(text) if "&" in text else text
        self._pieces.append(decoded.replace("\n", " "))

    def write_boxes(self, tags: str) -> None:
        """A new line where a row or a box begins or ends, else a space between cells."""
        if _BREAKING.search(tags):
            self._break("tr")
        else:
            self._pieces.append(" ")

    def open(self, tag: str, attributes: str) -> None:
        if tag == "a":
            self._link, self._link_at = _attribute(attributes, "href"), len(self._pieces)
        elif tag == "img":
            self.write(_attribute(attributes, "alt"))
        else:
            self._break(tag)
            self._pieces.append("- " if tag == "li" else "")

    def close(self, tag: str) -> None:
        if tag == "a":
            self._close_link()
        elif tag != "br":
            self._break(tag)

    def _break(self, tag: str) -> None:
        if tag in _PARAGRAPHS:
            self._pieces.append("\n\n")
        elif tag == "br" or (tag in _BLOCKS and not "".join(self._pieces[-3:]).rstrip(" ").endswith("\n")):
            self._pieces.append("\n")

    def _close_link(self) -> None:
        link, self._link = self._link, ""
        if not link.startswith(("http:", "https:", "mailto:")):
            return
        if link.removeprefix("mailto:") != "".join(self._pieces[self._link_at :]).strip():
            self._pieces.append(f" ({link})")


def _attribute(attributes: str, name: str) -> str:
    for attribute in _ATTRIBUTE.finditer(attributes):
        if attribute[1].lower() == name:
            return html.unescape(attribute[2] or attribute[3] or attribute[4] or "")
    return ""
