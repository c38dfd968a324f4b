"""The e-mails whose HTML and text are stored: bodies, layouts and variables."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from clarion.content.email.compose import EditorType, LayoutSource
from tests.content.email.documents import Node, make_document, make_node, make_text, paragraph, variable

BLOCK, HTML, MJML = EditorType.BLOCK, EditorType.HTML, EditorType.MJML
PICTURE = "https://example.com/picture.png"
BOLD, ITALIC, LINE, STRUCK, CODE = ({"type": kind} for kind in ("bold", "italic", "underline", "strike", "code"))


class GoldenEmail(Struct, frozen=True, kw_only=True):
    body: str
    editor_type: EditorType = BLOCK
    layout: LayoutSource | None = None
    variables: Mapping[str, Any] = {}
    title: str = "Your order"


def link_to(href: str, **attrs: Any) -> Node:
    return {"type": "link", "attrs": {"href": href, **attrs}}


def heading(level: int, *inline: Node | str, **attrs: Any) -> Node:
    nodes = (make_text(one) if isinstance(one, str) else one for one in inline)
    return make_node("heading", *nodes, level=level, **attrs)


def list_item(*inline: Node | str) -> Node:
    return make_node("listItem", paragraph(*inline))


def column(*nodes: Node, **attrs: Any) -> Node:
    return make_node("column", *nodes, **attrs)


def button(text: str, url: str = "https://example.com/order", **attrs: Any) -> Node:
    return make_node("button", text=text, url=url, **attrs)


ORDER: Mapping[str, Any] = {
    "locale": "en_US",
    "subscriber": {"firstName": "Ada"},
    "payload": {
        "order": "A-1042",
        "url": "https://example.com/orders/A-1042?from=mail&to=page",
        "items": [{"name": "Teapot", "price": "24.00"}, {"name": "Cup & saucer", "price": "8.50"}],
    },
}
TEXTS = make_document(
    heading(1, "Every kind of text"),
    heading(2, "With a ", make_text("link", link_to("https://example.com")), " in a heading"),
    heading(3, "Centred", textAlign="center"),
    paragraph(
        make_text("Bold", BOLD), ", ", make_text("italic", ITALIC), ", ", make_text("underlined", LINE), ", ",
        make_text("struck", STRUCK), ", ", make_text("code", CODE), ", ",
        make_text("red", {"type": "textStyle", "attrs": {"color": "#b91c1c"}}), ", ",
        make_text("all together", BOLD, ITALIC, LINE, link_to("https://example.com/all")), "."
    ),
    paragraph("Right,   with runs of   spaces", textAlign="right"),
    paragraph("First line", make_node("hardBreak"), "second line"),
    paragraph(),
    make_node("horizontalRule"),
    make_node("bulletList", list_item("One"), list_item("Two ", make_text("bold", BOLD))),
    make_node("orderedList", list_item("Third"), list_item("Fourth"), start=3),
    make_node("blockquote", paragraph("A quote of two paragraphs."), paragraph("The second one.")),
    make_node("footer", make_text("A footer, which is quieter"), textAlign="center"),
)  # fmt: skip
BUTTONS = make_document(
    button("Filled, left"),
    button("Round, centred", alignment="center", borderRadius="round", buttonColor="#1d4ed8"),
    button("Outline, right", alignment="right", variant="outline", textColor="#111827"),
    button("Sharp and wide", width="100%", borderRadius="sharp", buttonColor="#166534"),
    button("payload.label", "payload.url", isTextVariable=True, isUrlVariable=True),
    button("{{t.welcome}} {{payload.label}}", paddingTop=4, paddingBottom=4, paddingLeft=12, paddingRight=12),
)
PICTURES = make_document(
    make_node("logo", src=PICTURE, size="lg", alt="The shop"),
    make_node("image", src=PICTURE, alt="A teapot", width=300, borderRadius=12),
    make_node("image", src="payload.picture", isSrcVariable=True, alt="{{payload.label}}", externalLink=PICTURE),
    make_node("image", src="payload.none", isSrcVariable=True, alt="A picture that is not there"),
    paragraph("In a line ", make_node("inlineImage", src=PICTURE, alt="icon"), " with text"),
    make_node("spacer", height=32),
    make_node(
        "linkCard", title="A card", description="With a picture and a badge", link="https://example.com/card",
        linkTitle="Read more", image=PICTURE, subTitle="News", badgeText="New",
    ),
)  # fmt: skip
BOXES = make_document(
    make_node(
        "section", heading(2, "A section"), paragraph("With a background, so that its text stays dark."),
        backgroundColor="#f7f7f7", borderWidth=1, paddingTop=16, paddingRight=16, paddingBottom=16, paddingLeft=16,
    ),
    make_node("section", paragraph("Without a background"), borderWidth=2, borderColor="#1d4ed8", borderRadius=0),
    make_node("columns", column(paragraph("Left")), column(paragraph("Right"), button("Go"))),
    make_node(
        "columns", column(paragraph("20 %"), width="20"),
        column(paragraph("Half"), width="50%", verticalAlign="middle"),
        column(paragraph("The rest"), verticalAlign="bottom"), gap=16,
    ),
)  # fmt: skip
CODE_BLOCK = make_document(
    paragraph("Above"),
    make_node(
        "htmlCodeBlock",
        make_text("<head><style>.box{padding:12px;border:1px solid #111827}</style></head>"),
        make_text("<div class='box'>Hello <b>"),
        variable("subscriber.firstName", fallback="you"),
        make_text("</b>, see <a href='{{payload.url}}'>the order</a></div>"),
    ),
    paragraph("Below"),
)
RECEIPT = make_node(
    "repeat",
    make_node(
        "columns",
        column(paragraph(variable("current.name", aliasFor="payload.items.name")), width="70%"),
        column(paragraph(variable("current.price", aliasFor="payload.items.price"), textAlign="right"), width="30%"),
    ),
    each="payload.items",
)
GREETING = paragraph("Hello ", variable("subscriber.firstName", fallback="there"), ",")
ORDER_BODY = make_document(
    heading(1, "Order ", variable("payload.order")),
    GREETING,
    RECEIPT,
    button("See the order", "payload.url", isUrlVariable=True),
)
MANY = make_document(
    heading(1, "Order ", variable("payload.order")),
    make_node("repeat", make_node("bulletList", list_item(variable("payload.items.name"))), each="payload.items"),
    paragraph("{{ payload.items.size }} items"),
)
DIGEST = make_document(
    make_node(
        "section",
        make_node(
            "repeat",
            paragraph(variable("current.payload.text", aliasFor="steps.digest.events.payload.text")),
            each="steps.digest.events",
            iterations=3,
        ),
        backgroundColor="#f7f7f7",
    ),
    paragraph(variable("steps.digest.eventCount | minus: 3 | pluralize: 'more comment', 'more comments'")),
)
HIDDEN = make_document(
    paragraph("Always"),
    paragraph("For members", showIfKey="subscriber.data.member"),
    make_node("section", paragraph("For nobody"), button("Go"), showIfKey="payload.nothing"),
    make_node("repeat", paragraph("An item"), each="payload.none", showIfKey="payload.none"),
)
MISSING = make_document(
    heading(1, "Hello ", variable("subscriber.firstName")),
    paragraph(
        "Your order ", variable("payload.order", fallback="(no number)"), " is {{ payload.state | default: 'new' }}."
    ),
    button("payload.label", "payload.url", isTextVariable=True, isUrlVariable=True),
    make_node("image", src="payload.picture", isSrcVariable=True, alt="{{ payload.alt }}"),
)
HOSTILE_TEXT = '"><script>alert(1)</script><img src=x onerror=alert(1)> {{ 7 | times: 7 }} {% raw %} &lt;b&gt; \u202e'
HOSTILE = {
    "subscriber": {"firstName": HOSTILE_TEXT},
    "locale": '"><b>',
    "payload": {
        "order": HOSTILE_TEXT,
        "url": "java\tscript:alert(1)",
        "label": HOSTILE_TEXT,
        "picture": "data:text/html,<script>alert(1)</script>",
        "items": [{"name": HOSTILE_TEXT, "price": HOSTILE_TEXT}],
    },
}
BLOCK_LAYOUT = LayoutSource(
    make_document(
        make_node("columns", column(make_node("logo", src=PICTURE)), column(paragraph("The shop", textAlign="right"))),
        make_node("spacer", height=8),
        paragraph(variable("content")),
        make_node("horizontalRule"),
        make_node(
            "footer", make_text("The shop, 1 Main Street. "), make_text("Settings", link_to("https://example.com/s"))
        ),
    ),
    BLOCK,
)
HTML_LAYOUT = LayoutSource(
    "<!DOCTYPE html>\n<html><head><style>.frame{max-width:560px;margin:0 auto;border:1px solid #ddd;padding:16px}"
    " p{font-family:Georgia,serif}@media (max-width:400px){.frame{padding:4px}}</style></head>\n"
    '<body><div class="frame"><h1>{{ subscriber.firstName }}</h1>{{ content }}</div></body></html>',
    HTML,
)
HTML_PAGE = (
    "<!DOCTYPE html>\n<html><head><title>Order</title><style>td{padding:6px 12px}.total{font-weight:bold}"
    "@media (prefers-color-scheme:dark){body{background:#111!important;color:#eee!important}}</style></head><body>\n"
    "<p>Hello {{ subscriber.firstName }}</p><table>{% for item in payload.items %}"
    '<tr><td>{{ item.name }}</td><td class="total">{{ item.price }}</td></tr>{% endfor %}</table>\n'
    '<p><a href="{{ payload.url }}">See the order</a></p></body></html>'
)
MJML_ORDER = (
    "<mjml><mj-head><mj-attributes><mj-all font-family='Helvetica, Arial, sans-serif' /></mj-attributes></mj-head>"
    "<mj-body><mj-section><mj-column><mj-text font-size='20px'>Order {{ payload.order }}</mj-text>"
    "<mj-table>{% for item in payload.items %}<tr><td>{{ item.name }}</td><td>{{ item.price }}</td></tr>{% endfor %}"
    "</mj-table><mj-button background-color='#1d4ed8' href='{{ payload.url }}'>See the order</mj-button></mj-column>"
    "</mj-section><mj-section><mj-column><mj-text>Left</mj-text></mj-column><mj-column><mj-text>Right</mj-text>"
    "</mj-column></mj-section></mj-body></mjml>"
)
LONG = make_document(
    *(paragraph(f"Paragraph {number}: ", *[make_text("some words that fill the line. ")] * 6) for number in range(60)),
    button("At the end", "payload.url", isUrlVariable=True),
)
ARABIC = {
    "locale": "ar_EG",
    "subscriber": {"firstName": "ليلى"},
    "payload": {
        "order": "1042",
        "url": "https://example.com/ar",
        "items": [{"name": "إبريق شاي", "price": "24.00"}],
    },
}
ARABIC_BODY = make_document(
    heading(1, "طلبك ", variable("payload.order")),
    paragraph("مرحبا ", variable("subscriber.firstName"), "، شكرا لك."),
    make_node("bulletList", list_item("الأول"), list_item("الثاني")),
    make_node("blockquote", paragraph("اقتباس قصير")),
    RECEIPT,
    button("عرض الطلب", "payload.url", isUrlVariable=True, alignment="right"),
)
LABELS = {
    **ORDER,
    "payload": {**ORDER["payload"], "label": "See <it>", "picture": PICTURE},
    "t": {"welcome": "Welcome!"},
}


def with_items(count: int) -> Mapping[str, Any]:
    items = [{"name": f"Item {number}", "price": f"{number}.00"} for number in range(count)]
    return {**ORDER, "payload": {**ORDER["payload"], "items": items}}


EVENTS = [{"payload": {"text": f"Comment {number}"}} for number in range(1, 6)]

GOLDEN: Mapping[str, GoldenEmail] = {
    "block-texts": GoldenEmail(body=TEXTS, variables=ORDER),
    "block-buttons": GoldenEmail(body=BUTTONS, variables=LABELS),
    "block-pictures": GoldenEmail(body=PICTURES, variables=LABELS),
    "block-boxes": GoldenEmail(body=BOXES, variables=ORDER),
    "block-code": GoldenEmail(body=CODE_BLOCK, variables=ORDER),
    "block-order": GoldenEmail(body=ORDER_BODY, variables=ORDER),
    "block-conditions": GoldenEmail(body=HIDDEN, variables={"subscriber": {"data": {"member": "yes"}}}),
    "block-digest": GoldenEmail(body=DIGEST, variables={"steps": {"digest": {"events": EVENTS, "eventCount": 5}}}),
    "block-missing": GoldenEmail(body=MISSING),
    "block-long": GoldenEmail(body=LONG, variables=ORDER),
    "block-right-to-left": GoldenEmail(body=ARABIC_BODY, variables=ARABIC, title="طلبك"),
    "block-hostile": GoldenEmail(body=ORDER_BODY, variables=HOSTILE, title=HOSTILE_TEXT),
    "block-hostile-media": GoldenEmail(body=BUTTONS, variables=HOSTILE),
    "repeat-none": GoldenEmail(body=ORDER_BODY, variables=with_items(0)),
    "repeat-one": GoldenEmail(body=ORDER_BODY, variables=with_items(1)),
    "repeat-500": GoldenEmail(body=MANY, variables=with_items(500)),
    "layout-block": GoldenEmail(body=ORDER_BODY, layout=BLOCK_LAYOUT, variables=ORDER),
    "layout-block-right-to-left": GoldenEmail(body=ARABIC_BODY, layout=BLOCK_LAYOUT, variables=ARABIC),
    "layout-html": GoldenEmail(body=ORDER_BODY, layout=HTML_LAYOUT, variables=ORDER),
    "layout-html-hostile": GoldenEmail(body=HTML_PAGE, editor_type=HTML, layout=HTML_LAYOUT, variables=HOSTILE),
    "html-page": GoldenEmail(body=HTML_PAGE, editor_type=HTML, variables=ORDER),
    "html-hostile": GoldenEmail(body=HTML_PAGE, editor_type=HTML, variables=HOSTILE),
    "mjml-order": GoldenEmail(body=MJML_ORDER, editor_type=MJML, variables=ORDER),
    "mjml-hostile": GoldenEmail(body=MJML_ORDER, editor_type=MJML, variables=HOSTILE),
}
