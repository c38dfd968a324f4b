"""Blocks of text: paragraphs, headings, lists, quotes, and what stands in a line."""

from typing import Final

from msgspec.structs import replace

from clarion.content.email.blocks.attributes import Attributes
from clarion.content.email.blocks.document import Node
from clarion.content.email.blocks.expressions import output
from clarion.content.email.blocks.frame import TABLE
from clarion.content.email.blocks.writing import Place, Write, Writer

_EMPTY: Final = "&nbsp;"
_TEXT: Final = "font-size:14px;line-height:20px;font-weight:500;color:#374151;-webkit-font-smoothing:antialiased"
_HEADINGS: Final = {1: "30px;line-height:40px", 2: "24px;line-height:30px", 3: "18px;line-height:26px"}
_HEADING_LEVELS: Final = 3


def _aligned(attributes: Attributes) -> str:
    alignment = attributes.alignment("textAlign")
    return f";text-align:{alignment}" if alignment else ""


def _write_paragraph(writer: Writer, node: Node, attributes: Attributes, place: Place) -> str:
    if any(child.type == "variable" and (child.attrs or {}).get("id") == "content" for child in node.children):
        # What a step puts there has blocks of its own, which would end a paragraph.
        return f'<div style="margin:0 0 {place.margin}px">{writer.write_all(node.children, place)}</div>'
    style = f"margin:0 0 {place.margin}px;{_TEXT}{_aligned(attributes)}"
    text = writer.write_all(node.children, place) or _EMPTY
    return f'<p{place.themed("text")} style="{style}">{text}</p>'


def _write_heading(writer: Writer, node: Node, attributes: Attributes, place: Place) -> str:
    level = attributes.number("level", 1)
    if not 1 <= level <= _HEADING_LEVELS:
        attributes.refuse("level", "must be 1, 2 or 3")
        level = 1
    size = f"font-size:{_HEADINGS[level]};font-weight:600;color:#111827"
    style = f"margin:0 0 {place.margin}px;{size}{_aligned(attributes)}"
    text = writer.write_all(node.children, replace(place, in_heading=True)) or _EMPTY
    return f'<h{level}{place.themed("head")} style="{style}">{text}</h{level}>'


def _write_footer(writer: Writer, node: Node, attributes: Attributes, place: Place) -> str:
    style = f"margin:0 0 {place.margin}px;font-size:14px;line-height:24px;color:#64748b{_aligned(attributes)}"
    text = writer.write_all(node.children, place) or _EMPTY
    return f'<p{place.themed("soft")} style="{style}">{text}</p>'


def _write_text(writer: Writer, node: Node, _: Attributes, place: Place) -> str:
    return writer.plain(node, place)


def _write_variable(writer: Writer, __: Node, attributes: Attributes, place: Place) -> str:
    name = attributes.text("id")
    return output(writer.name("id", name, attributes, place))


def _write_break(_: Writer, __: Node, ___: Attributes, ____: Place) -> str:
    return "<br>"


def _write_rule(_: Writer, __: Node, attributes: Attributes, place: Place) -> str:
    above, below = attributes.pixels("marginTop", 10), attributes.pixels("marginBottom", 10)
    style = f"margin:{above}px 0 {below}px;border:none;border-top:1px solid #eaeaea;width:100%"
    return f'<hr{place.themed("line")} style="{style}">'


def _write_list(tag: str, style: str) -> Write:
    def write(writer: Writer, node: Node, attributes: Attributes, place: Place) -> str:
        start = attributes.number("start", 1) if tag == "ol" else 1
        items = writer.write_all(node.children, replace(place, is_flush=True))
        first = f' start="{start}"' if start != 1 else ""
        padded = f"margin:0;padding:0 26px;list-style:{style}"
        markup = f'<{tag}{first} style="{padded}">{items}</{tag}>'
        return f'<table {TABLE}><tr><td style="padding:0 0 {place.margin}px">{markup}</td></tr></table>'

    return write


def _write_item(writer: Writer, node: Node, attributes: Attributes, place: Place) -> str:
    color = attributes.color("color", "")
    style = f"color:{color or '#374151'};font-size:14px;line-height:20px;margin:0 0 8px;padding:0 6px"
    content = writer.write_all(node.children, replace(place, is_flush=True))
    theme = "" if color else place.themed("text")
    return f'<li{theme} style="{style}">{content}</li>'


def _write_quote(writer: Writer, node: Node, _: Attributes, place: Place) -> str:
    content = writer.write_all(node.children, replace(place, is_flush=True))
    style = f"margin:0 0 {place.margin}px;border-left:4px solid #374151;padding-left:16px"
    return f'<blockquote class="cl-quote" style="{style}">{content}</blockquote>'


TEXTS: Final[dict[str, Write]] = {
    "paragraph": _write_paragraph,
    "heading": _write_heading,
    "text": _write_text,
    "variable": _write_variable,
    "hardBreak": _write_break,
    "horizontalRule": _write_rule,
    "bulletList": _write_list("ul", "disc"),
    "orderedList": _write_list("ol", "decimal"),
    "listItem": _write_item,
    "blockquote": _write_quote,
    "footer": _write_footer,
}
