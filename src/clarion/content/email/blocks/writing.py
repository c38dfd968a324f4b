"""Compiles a block document: walks its nodes once and collects markup, problems and the variables in it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from clarion.content.email.blocks.attributes import Attributes
from clarion.content.email.blocks.document import MARKS, Mark, Node, unknown_type
from clarion.content.email.blocks.expressions import (
    MAX_NAME,
    Expression,
    Repeat,
    attribute_markup,
    condition,
    has_liquid,
    link_attribute,
    output,
    read_name,
    text_markup,
    with_fallback,
)
from clarion.content.email.problems import BodyProblem
from clarion.templates.markup_filters import is_safe_link, is_safe_source

MAX_PROBLEMS: Final = 50


class Place(Struct, frozen=True, kw_only=True):
    """Where a node stands, as far as that decides how it looks."""

    path: str
    repeat: Repeat | None = None
    ends_flush: bool = False
    """Whether the last block of it has no space below."""
    is_flush: bool = False
    """Whether no block in it has space below."""
    is_last: bool = False
    is_only: bool = False
    before_spacer: bool = False
    on_color: bool = False
    """Whether the background is the document's own, so that the text is not to change in dark mode."""
    in_heading: bool = False

    @property
    def margin(self) -> int:
        """The space below a block of text."""
        return 0 if self.before_spacer or self.is_flush or (self.is_last and self.ends_flush) else 10

    def themed(self, name: str) -> str:
        """The class of what changes in dark mode."""
        return "" if self.on_color else f' class="cl-{name}"'


Write = Callable[["Writer", Node, Attributes, Place], str]


class Writer:
    """Makes the template of one document; `nodes` are the functions for each type of node."""

    def __init__(self, nodes: dict[str, Write]) -> None:
        self._nodes = nodes
        self.problems: list[BodyProblem] = []
        self.uses: list[tuple[str, str]] = []
        """Paths and templates that have the same variables as the document there."""

    def write_all(self, nodes: Sequence[Node], place: Place) -> str:
        """The markup of the content of a node, whose own place this is."""
        return "".join(self._write_each(nodes, place))

    def write(self, node: Node, place: Place) -> str:
        """The markup of a node, with its marks, inside its condition."""
        function = self._nodes.get(node.type)
        if function is None:
            self._report(unknown_type(place.path, "type of a node", node.type, tuple(self._nodes)))
            return ""
        attributes = self.attributes(node, place)
        markup = function(self, node, attributes, place)
        if node.marks:
            markup = self._with_marks(markup, node.marks, place)
        shown = attributes.text("showIfKey")
        if not shown.strip():
            return markup
        return condition(self.name("showIfKey", shown, attributes, place), markup)

    def attributes(self, node: Node | Mark, place: Place) -> Attributes:
        return Attributes(node.attrs, place.path, self.refuse)

    def refuse(self, path: str, message: str) -> None:
        self._report(BodyProblem(path, message))

    def warn(self, path: str, message: str) -> None:
        self._report(BodyProblem(path, message, is_warning=True))

    def name(self, attribute: str, name: str, attributes: Attributes, place: Place) -> Expression:
        """Read an attribute that holds the name of a variable."""
        alias = "" if attribute == "showIfKey" else attributes.text("aliasFor")
        if max(len(name), len(alias)) > MAX_NAME:
            attributes.refuse(attribute, f"must not have more than {MAX_NAME} characters, nor aliasFor")
            return Expression("nil")
        expression = read_name(name, alias, place.repeat)
        if expression is None:
            attributes.refuse(attribute, "must be the name of a variable, such as payload.name")
            return Expression("nil")
        expression = with_fallback(expression, "" if attribute == "showIfKey" else attributes.text("fallback"))
        self.uses.append((f"{place.path}.attrs.{attribute}", expression.check))
        return expression

    def text(self, attribute: str, attributes: Attributes, place: Place, default: str = "") -> str:
        """The text of an attribute, with the variables in it, where text stands."""
        text = attributes.text(attribute, default)
        self._note(f"{place.path}.attrs.{attribute}", text, place)
        return text_markup(text)

    def quoted(self, attribute: str, attributes: Attributes, place: Place, default: str = "") -> str:
        """The text of an attribute where the value of an attribute stands."""
        text = attributes.text(attribute, default) or default
        self._note(f"{place.path}.attrs.{attribute}", text, place)
        return attribute_markup(text)

    def link(self, kind: str, attribute: str, flag: str, attributes: Attributes, place: Place) -> str:
        """` href="…"` or ` src="…"` of an address that may be a variable, or nothing without a safe one."""
        address = attributes.text(attribute).strip()
        if address and attributes.flag(flag):
            expression = self.name(attribute, address, attributes, place)
            return output(expression, f"_{kind}")
        self._note(f"{place.path}.attrs.{attribute}", address, place)
        if has_liquid(address):
            return link_attribute(kind, address)
        is_safe = is_safe_link if kind == "href" else is_safe_source
        if not is_safe(address):
            schemes = "https, http, mailto or tel" if kind == "href" else "https, http or cid"
            attributes.refuse(attribute, f"must be an address with {schemes}: other addresses do not work in mail")
            return ""
        return f' {kind}="{attribute_markup(address)}"' if address else ""

    def plain(self, node: Node, place: Place) -> str:
        """The text of a text node."""
        self._note(f"{place.path}.text", node.text or "", place)
        return text_markup(node.text or "")

    def _write_each(self, nodes: Sequence[Node], place: Place) -> Iterator[str]:
        last = len(nodes) - 1
        for number, node in enumerate(nodes):
            inner = replace(
                place,
                path=f"{place.path}.content[{number}]",
                is_last=number == last,
                is_only=last == 0,
                before_spacer=number < last and nodes[number + 1].type == "spacer",
            )
            yield self.write(node, inner)

    def _with_marks(self, markup: str, marks: Sequence[Mark], place: Place) -> str:
        by_type = {}
        for number, mark in enumerate(marks):
            path = f"{place.path}.marks[{number}]"
            if mark.type not in MARKS:
                self._report(unknown_type(path, "type of a mark", mark.type, MARKS))
            by_type[mark.type] = (mark, replace(place, path=path))
        for name in MARKS:
            if name in by_type:
                markup = self._with_mark(markup, *by_type[name])
        return markup

    def _with_mark(self, markup: str, mark: Mark, place: Place) -> str:
        attributes = self.attributes(mark, place)
        match mark.type:
            case "link":
                return self._linked(markup, attributes, place)
            case "textStyle":
                color = attributes.color("color", "")
                return f'<span style="color:{color}">{markup}</span>' if color else markup
            case "code":
                style = "background:#efefef;padding:2px 4px;border-radius:6px;font-family:monospace"
                return f'<code{place.themed("code")} style="{style}">{markup}</code>'
            case _:
                tag = {"underline": "u", "bold": "strong", "italic": "em", "strike": "s"}[mark.type]
                return f"<{tag}>{markup}</{tag}>"

    def _linked(self, markup: str, attributes: Attributes, place: Place) -> str:
        href = self.link("href", "href", "isUrlVariable", attributes, place)
        if not attributes.text("href").strip():
            self.warn(f"{place.path}.attrs.href", "is missing: the link leads nowhere")
        color = "inherit" if place.in_heading else "#111827"
        weight = "inherit" if place.in_heading else "500"
        style = f"color:{color};text-decoration:underline;font-weight:{weight}"
        rel = 'target="_blank" rel="noopener noreferrer nofollow"'
        return f'<a{href} {rel}{place.themed("head")} style="{style}">{markup}</a>'

    def _note(self, path: str, text: str, place: Place) -> None:
        """Remember the variables in a text; inside a repeat, `current` is an item."""
        if has_liquid(text):
            repeat = place.repeat
            check = f"{{% for current in {repeat.path} %}}{text}{{% endfor %}}" if repeat else text
            self.uses.append((path, check))

    def _report(self, problem: BodyProblem) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)
