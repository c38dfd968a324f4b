"""Blocks that hold or repeat others: sections, columns, repeats, and markup given as it is."""

import re
from typing import Final

from msgspec.structs import replace

from clarion.content.email.blocks.attributes import Attributes
from clarion.content.email.blocks.document import Node
from clarion.content.email.blocks.expressions import MAX_NAME, loop, output, read_name, repeat_of
from clarion.content.email.blocks.frame import TABLE
from clarion.content.email.blocks.writing import Place, Write, Writer
from clarion.content.email.markup import clean_markup
from clarion.content.email.scanning import Unreadable

# The next start ends the search for an end: otherwise each start without an end is followed through the whole text.
_HEAD: Final = re.compile(r"<head\b(?:[^<]++|<(?!head\b|/head\s*>))*+</head\s*>", re.IGNORECASE)
_STYLE: Final = re.compile(r"<style\b(?:[^<]++|<(?!style\b|/style\s*>))*+</style\s*>", re.IGNORECASE)
_WRAPPER: Final = re.compile(r"</?(?:html|body)\b[^<>]*>|<!doctype[^<>]*>", re.IGNORECASE)
_SIDES: Final = ("Top", "Right", "Bottom", "Left")


def _write_document(writer: Writer, node: Node, _: Attributes, place: Place) -> str:
    writer.refuse(f"{place.path}.type", "'doc' must not be inside of a document")
    return writer.write_all(node.children, place)


def _write_section(writer: Writer, node: Node, attributes: Attributes, place: Place) -> str:
    background = attributes.color("backgroundColor", "")
    width, line = attributes.pixels("borderWidth", 0), attributes.color("borderColor", "#e2e2e2")
    below = 0 if place.is_only and place.path.count("[") == 1 else 10
    margins = [attributes.pixels(f"margin{side}", below if side == "Bottom" else 0) for side in _SIDES]
    padding = " ".join(f"{attributes.pixels(f'padding{side}', 8)}px" for side in _SIDES)
    border = f"border:{width}px solid {line};" if width else ""
    fill = f"background:{background};" if background else ""
    round_corners = f"border-radius:{attributes.pixels('borderRadius', 6)}px;"
    align = attributes.alignment("align")
    inner = replace(place, ends_flush=True, is_flush=False, on_color=place.on_color or bool(background))
    content = writer.write_all(node.children, inner)
    aligned = f' align="{align}"' if align else ""
    filled = f' bgcolor="{background}"' if background.startswith("#") and len(background) == 7 else ""
    style = f"{fill}{border}{round_corners}padding:{padding}"
    cell = f'<td{aligned}{filled} style="{style}">{content}</td>'
    box = f'<table {TABLE} style="border-collapse:separate"><tr>{cell}</tr></table>'
    around = " ".join(f"{margin}px" for margin in margins)
    return f'<table {TABLE}><tr><td style="padding:{around}">{box}</td></tr></table>'


def _write_columns(writer: Writer, node: Node, attributes: Attributes, place: Place) -> str:
    gap = attributes.pixels("gap", 8)
    below = attributes.pixels("marginBottom", 10)
    widths = _widths(writer, node, place)
    cells = []
    for number, child in enumerate(node.children):
        inner = replace(place, path=f"{place.path}.content[{number}]", ends_flush=True, is_flush=False)
        if child.type != "column":
            writer.refuse(f"{inner.path}.type", f"'{child.type[:60]}' cannot stand in columns; only a column can")
            continue
        padding = _column_padding(number, len(node.children), gap)
        cells.append(_write_column(writer, child, inner, f"{widths[number]:g}", padding))
    row = f'<table {TABLE} class="tab-row-full"><tr>{"".join(cells)}</tr></table>'
    return f'<table {TABLE}><tr><td style="padding:0 0 {below}px">{row}</td></tr></table>' if below else row


def _write_column(writer: Writer, node: Node, place: Place, width: str, padding: str) -> str:
    attributes = writer.attributes(node, place)
    valign = attributes.word("verticalAlign", ("top", "middle", "bottom"), "top")
    content = writer.write_all(node.children, place)
    inner = f'<table {TABLE}><tr><td class="tab-pad" style="padding:{padding}">{content}</td></tr></table>'
    style = f"width:{width}%;vertical-align:{valign}"
    return f'<td class="tab-col-full" width="{width}%" valign="{valign}" style="{style}">{inner}</td>'


def _write_lone_column(writer: Writer, node: Node, _: Attributes, place: Place) -> str:
    writer.refuse(f"{place.path}.type", "'column' can only stand in columns")
    return writer.write_all(node.children, place)


def _widths(writer: Writer, node: Node, place: Place) -> list[float]:
    """The widths of columns in percent; those without share what is left."""
    given = []
    for number, child in enumerate(node.children):
        attributes = writer.attributes(child, replace(place, path=f"{place.path}.content[{number}]"))
        given.append(attributes.percent("width"))
    left = max(100 - sum(width for width in given if width), 0)
    free = given.count(None)
    return [round(left / free, 2) if width is None else width for width in given]


def _column_padding(number: int, count: int, gap: int) -> str:
    """The gap between columns, in halves; with three and more it is wider, as existing dashboards show it."""
    if count == 1:
        return "0"
    if count == 2:
        return f"0 {gap / 2:g}px 0 0" if number == 0 else f"0 0 0 {gap / 2:g}px"
    outer, middle = f"{gap * 0.75:g}px", f"{gap * 0.375:g}px"
    if number == 0:
        return f"0 {outer} 0 0"
    return f"0 0 0 {outer}" if number == count - 1 else f"0 {middle}"


def _write_repeat(writer: Writer, node: Node, attributes: Attributes, place: Place) -> str:
    name = attributes.text("each").strip()
    if place.repeat is not None:
        writer.refuse(f"{place.path}.type", f"'{node.type}' cannot stand inside another repeat")
        return ""
    if not name:
        attributes.refuse("each", "must be the name of a list, such as payload.items")
        return ""
    items = read_name(name, "", None)
    if len(name) > MAX_NAME:
        attributes.refuse("each", f"must not have more than {MAX_NAME} characters")
        return ""
    if items is None:
        attributes.refuse("each", "must be the name of a list, such as payload.items")
        return ""
    writer.uses.append((f"{place.path}.attrs.each", items.check))
    repeat = repeat_of(items)
    content = writer.write_all(node.children, replace(place, repeat=repeat))
    return loop(items, repeat.path, attributes.number("iterations", 0), content)


def _write_code(writer: Writer, node: Node, _: Attributes, place: Place) -> str:
    """Markup of the document as it is, with escaped values; style sheets in it are inlined."""
    pieces = []
    for number, child in enumerate(node.children):
        inner = replace(place, path=f"{place.path}.content[{number}]")
        match child.type:
            case "text":
                writer.plain(child, inner)
                pieces.append(child.text or "")
            case "variable":
                attributes = writer.attributes(child, inner)
                pieces.append(output(writer.name("id", attributes.text("id"), attributes, inner)))
            case "hardBreak":
                pieces.append("\n")
            case _:
                writer.refuse(f"{inner.path}.type", f"'{child.type[:60]}' cannot stand in an htmlCodeBlock; text can")
    markup = _without_head("".join(pieces))
    try:
        cleaned = clean_markup(markup)
    except Unreadable as unreadable:
        writer.refuse(place.path, f"has a value in a tag that does not end: {markup[unreadable.start :][:60]}")
        return ""
    return f"<table {TABLE}><tr><td>{cleaned}</td></tr></table>"


def _without_head(markup: str) -> str:
    """Drop the head of a whole document, but for its style sheets."""
    sheets = "".join(sheet for head in _HEAD.findall(markup) for sheet in _STYLE.findall(head))
    return sheets + _WRAPPER.sub("", _HEAD.sub("", markup))


BOXES: Final[dict[str, Write]] = {
    "doc": _write_document,
    "section": _write_section,
    "columns": _write_columns,
    "column": _write_lone_column,
    "repeat": _write_repeat,
    "for": _write_repeat,
    "htmlCodeBlock": _write_code,
}
