"""Blocks to look at and to press: buttons, pictures, space, and cards."""

from typing import Final

from clarion.content.email.blocks.attributes import Attributes
from clarion.content.email.blocks.contrast import find_contrast_problem
from clarion.content.email.blocks.document import Node
from clarion.content.email.blocks.expressions import has_liquid, output
from clarion.content.email.blocks.frame import TABLE
from clarion.content.email.blocks.writing import Place, Write, Writer

_PRESENTATION: Final = 'role="presentation" border="0" cellpadding="0" cellspacing="0"'
_NEW_WINDOW: Final = 'target="_blank" rel="noopener noreferrer"'
_CORNERS: Final = {"sharp": 0, "smooth": 6, "round": 9999}
_LOGO_SIZES: Final = {"sm": 40, "md": 48, "lg": 64}


def _write_button(writer: Writer, _: Node, attributes: Attributes, place: Place) -> str:
    text = _button_text(writer, attributes, place)
    href = writer.link("href", "url", "isUrlVariable", attributes, place)
    if not attributes.text("url").strip():
        writer.warn(f"{place.path}.attrs.url", "is missing: the button leads nowhere")
    fill, ink = attributes.color("buttonColor", "#000000"), attributes.color("textColor", "#ffffff")
    is_outline = attributes.word("variant", ("filled", "outline"), "filled") == "outline"
    problem = None if is_outline else find_contrast_problem(ink, fill)
    if problem is not None:
        writer.warn(f"{place.path}.attrs.textColor", problem)
    background = "transparent" if is_outline else fill
    radius = _CORNERS[attributes.word("borderRadius", tuple(_CORNERS), "smooth")]
    align = _align(attributes.alignment("alignment"))
    width = attributes.size("width")
    sides = {"Top": 10, "Right": 32, "Bottom": 10, "Left": 32}
    top, right, bottom, left = (attributes.pixels(f"padding{side}", usual) for side, usual in sides.items())
    shape = f"border:2px solid {fill};border-radius:{radius}px"
    cell = f"border-radius:{radius}px;background:{background};mso-padding-alt:{top}px {right}px {bottom}px {left}px"
    look = (
        f"display:{'block' if width else 'inline-block'};{shape};background:{background};color:{ink};font-size:14px;"
        f"line-height:20px;font-weight:500;text-align:center;text-decoration:none;"
        f"padding:{top + 2}px {right}px {bottom + 2}px {left}px;mso-padding-alt:0"
    )
    solid = "" if is_outline or not fill.startswith("#") else f' bgcolor="{fill}"'
    changes = place.themed("outline") if is_outline else ""
    link = f'<a{href} {_NEW_WINDOW} style="{look}">{text}</a>'
    sized = f' width="{width.removesuffix("px")}" style="width:{width}"' if width else ""
    button = (
        f'<table {_PRESENTATION}{sized}><tr><td align="center"{solid}{changes} style="{cell}">{link}</td></tr></table>'
    )
    return f'<table {TABLE}><tr><td{align} style="padding:0 0 10px">{button}</td></tr></table>'


def _button_text(writer: Writer, attributes: Attributes, place: Place) -> str:
    text = attributes.text("text", "Button")
    if attributes.flag("isTextVariable") and text.strip() and not has_liquid(text):
        return output(writer.name("text", text, attributes, place))
    if not text.strip():
        writer.warn(f"{place.path}.attrs.text", "is missing: the button has no text")
    return writer.text("text", attributes, place, "Button")


def _write_image(writer: Writer, _: Node, attributes: Attributes, place: Place) -> str:
    width, height = attributes.size("width"), attributes.size("height")
    radius = attributes.pixels("borderRadius", 0)
    sizes = _size_attribute("width", width) + _size_attribute("height", height)
    style = f"display:block;border:none;outline:none;max-width:100%;width:{width or 'auto'};height:{height or 'auto'}"
    rounded = f";border-radius:{radius}px" if radius else ""
    image = _picture(writer, attributes, place, f'{sizes} style="{style}{rounded}"')
    return _picture_row(attributes.alignment("alignment", "center"), _with_link(writer, image, attributes, place))


def _write_inline_image(writer: Writer, _: Node, attributes: Attributes, place: Place) -> str:
    width, height = attributes.pixels("width", 20), attributes.pixels("height", 20)
    style = f"display:inline;vertical-align:middle;border:none;outline:none;width:{width}px;height:{height}px"
    image = _picture(writer, attributes, place, f' width="{width}" height="{height}" style="{style}"')
    return _with_link(writer, image, attributes, place)


def _write_logo(writer: Writer, _: Node, attributes: Attributes, place: Place) -> str:
    size = _LOGO_SIZES[attributes.word("size", tuple(_LOGO_SIZES), "sm")]
    style = f"display:block;border:none;outline:none;width:{size}px;height:{size}px"
    image = _picture(writer, attributes, place, f' width="{size}" height="{size}" style="{style}"', "Logo")
    return _picture_row(attributes.alignment("alignment"), image)


def _picture(writer: Writer, attributes: Attributes, place: Place, look: str, alt: str = "") -> str:
    src = writer.link("src", "src", "isSrcVariable", attributes, place)
    if not attributes.text("src").strip():
        writer.warn(f"{place.path}.attrs.src", "is missing: there is no picture to show")
    if not (attributes.text("alt").strip() or alt):
        writer.warn(f"{place.path}.attrs.alt", "is missing: say what the picture shows, for people who do not see it")
    title = f' title="{writer.quoted("title", attributes, place)}"' if attributes.text("title") else ""
    return f'<img{src} alt="{writer.quoted("alt", attributes, place, alt)}"{title}{look}>'


def _with_link(writer: Writer, image: str, attributes: Attributes, place: Place) -> str:
    if not attributes.text("externalLink").strip():
        return image
    href = writer.link("href", "externalLink", "isExternalLinkVariable", attributes, place)
    return f'<a{href} {_NEW_WINDOW} style="text-decoration:none">{image}</a>'


def _picture_row(align: str, image: str) -> str:
    table = f"<table {_PRESENTATION}{_align(align)}><tr><td>{image}</td></tr></table>"
    return f'<table {TABLE}><tr><td{_align(align)} style="padding:0 0 10px">{table}</td></tr></table>'


def _align(alignment: str) -> str:
    """Nothing where none is given: then it is where the person's language begins."""
    return f' align="{alignment}"' if alignment else ""


def _size_attribute(name: str, size: str) -> str:
    return f' {name}="{size.removesuffix("px")}"' if size else ""


def _write_spacer(_: Writer, __: Node, attributes: Attributes, ___: Place) -> str:
    height = attributes.pixels("height", 8)
    style = f"height:{height}px;font-size:0;line-height:{height}px"
    return f'<table {TABLE}><tr><td height="{height}" style="{style}">&nbsp;</td></tr></table>'


def _write_card(writer: Writer, _: Node, attributes: Attributes, place: Place) -> str:
    """A card with a picture; its title and the text of its link lead to the address."""
    href = writer.link("href", "link", "isLinkVariable", attributes, place)
    has_image = bool(attributes.text("image").strip())
    src = writer.link("src", "image", "isImageVariable", attributes, place) if has_image else ""
    texts = {name: writer.text(name, attributes, place) for name in ("title", "description", "linkTitle")}
    badge, sub_title = (writer.text(name, attributes, place) for name in ("badgeText", "subTitle"))
    if not attributes.text("link").strip():
        writer.warn(f"{place.path}.attrs.link", "is missing: the card leads nowhere")
    if not texts["title"].strip():
        writer.warn(f"{place.path}.attrs.title", "is missing: the card has no text that leads to its address")
    look = 'style="display:block;border:none;width:100%;border-radius:10px 10px 0 0"'
    image = f'<tr><td><img{src} alt="" width="100%" {look}></td></tr>' if has_image else ""
    title_style = "color:#111827;font-size:18px;line-height:26px;font-weight:600;text-decoration:none"
    title = f'<a{href} {_NEW_WINDOW}{place.themed("head")} style="{title_style}">{texts["title"]}</a>'
    mark = "background:#fef08a;color:#111827;font-size:12px;font-weight:600;padding:4px 8px;border-radius:8px"
    badge = f' <span style="{mark}">{badge}</span>' if badge else ""
    soft = place.themed("soft")
    above = f'<p{soft} style="margin:0 0 4px;font-size:14px;color:#6b7280">{sub_title}</p>' if sub_title else ""
    line = f'<p{soft} style="margin:8px 0;font-size:16px;line-height:24px;color:#6b7280">{texts["description"]}</p>'
    more_style = "color:#111827;font-size:14px;font-weight:500;text-decoration:underline"
    more = f'<a{href} {_NEW_WINDOW}{place.themed("head")} style="{more_style}">{texts["linkTitle"]}</a>'
    about = line if texts["description"] else ""
    cell = f'<td style="padding:15px">{above}{title}{badge}{about}{more if texts["linkTitle"] else ""}</td>'
    box = 'style="border:1px solid #eaeaea;border-radius:10px;border-collapse:separate"'
    card = f"<table {TABLE}{place.themed('line')} {box}>{image}<tr>{cell}</tr></table>"
    return f'<table {TABLE}><tr><td style="padding:0 0 {place.margin}px">{card}</td></tr></table>'


MEDIA: Final[dict[str, Write]] = {
    "button": _write_button,
    "image": _write_image,
    "inlineImage": _write_inline_image,
    "logo": _write_logo,
    "spacer": _write_spacer,
    "linkCard": _write_card,
}
