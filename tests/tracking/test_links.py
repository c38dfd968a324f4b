"""Links and images in the HTML of mails: what is replaced, what stays, and what a token leads to."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.content.links import LinkPurpose, LinkSecret, sign_link
from clarion.ids import EnvironmentId, MessageId
from clarion.tracking.links import (
    MAX_TARGET,
    TrackedLinks,
    find_target,
    make_base,
    read_click,
    read_open,
    replace_links,
)
from clarion.tracking.model import Tracking

SECRET = LinkSecret(EnvironmentId(b"e" * 16), b"k" * 32)
OTHER = LinkSecret(EnvironmentId(b"e" * 16), b"o" * 32)
NEIGHBOUR = LinkSecret(EnvironmentId(b"n" * 16), b"k" * 32)
LINKS = TrackedLinks(secret=SECRET, base="https://t.example", own=("https://t.example/unsubscribe?token=",))
MESSAGE = MessageId(b"m" * 16)
BOTH = Tracking(opens=True, clicks=True)

_TRACKED = re.compile(r"https://t\.example/t/c/([A-Za-z0-9_-]+)")
_IMAGE = re.compile(r"<img src=\"https://t\.example/t/o/[A-Za-z0-9_-]+\"[^>]*>")


def rewrite(document: str, tracking: Tracking = BOTH) -> str:
    return LINKS.make_rewriter(MESSAGE, tracking)(document)


def targets(document: str) -> list[str]:
    found = [read_click(SECRET, token) for token in _TRACKED.findall(document)]
    return [one.target for one in found if one is not None]


@pytest.mark.parametrize(
    ("document", "target"),
    [
        ('<a href="https://shop.example/a">', "https://shop.example/a"),
        ("<A CLASS=x HREF='http://shop.example/?a=1&amp;b=2'>", "http://shop.example/?a=1&b=2"),
        ("<a\nhref=https://shop.example/a title=b>", "https://shop.example/a"),
        ('<a href = " HTTPS://shop.example/a b " >', "HTTPS://shop.example/a%20b"),
        ('<a title="a > b" href="https://shop.example/ä#c">', "https://shop.example/%C3%A4#c"),
        ('<a href="https://shop.example/?a=1&copy=2">', "https://shop.example/?a=1&copy=2"),
        ('<a href="https://shop.example/a" href="https://evil.example">', "https://shop.example/a"),
    ],
)
def test_links_of_the_web_are_replaced(document: str, target: str) -> None:
    assert targets(rewrite(document)) == [target]


@pytest.mark.parametrize(
    "document",
    [
        '<a href="mailto:ada@example.org">',
        '<a href="tel:+442079460000">',
        '<a href="#top">',
        '<a href="/shop">',
        '<a href="//evil.example">',
        '<a href="javascript:alert(1)">',
        '<a href="https:evil.example">',
        '<a href="https:\\\\evil.example">',
        '<a href="https://a.example\\@evil.example">',
        '<a href="https://a.example/&#13;&#10;Set-Cookie: a=b">',
        '<a href="https://[::bad/">',
        '<a href="https://ünïcode.example/">',
        '<a href="https://t.example/unsubscribe?token=abc">',
        f'<a href="https://shop.example/{"a" * MAX_TARGET}">',
        '<a href="">',
        "<a href>",
        '<a data-href="https://shop.example">',
        '<abbr href="https://shop.example">',
        '<link href="https://shop.example/a.css">',
        '<img src="https://shop.example/a.png">',
        '<!-- <a href="https://shop.example"> -->',
        "<!--[if mso]><a href='https://shop.example'>a</a><![endif]-->",
        "<style>a { background: url('<a href=https://shop.example>') }</style>",
        '<script>"<a href=https://shop.example>"</script>',
        "https://shop.example",
    ],
)
def test_everything_else_stays(document: str) -> None:
    assert rewrite(document, Tracking(clicks=True)) == document


def test_the_image_stands_at_the_end_of_what_is_shown() -> None:
    assert _IMAGE.sub("|", rewrite("<body>a</body>b</BODY ></html>")) == "<body>a</body>b|</BODY ></html>"
    assert _IMAGE.sub("|", rewrite("<p>a</p>")) == "<p>a</p>|"


_TEXTS = st.text(alphabet="<>\"'=/ ahref:x&;!-#\n", max_size=30)
_PARTS = st.one_of(
    _TEXTS,
    st.sampled_from(
        [
            '<a href="https://shop.example/a?b=1&amp;c">',
            "<a href='http://shop.example'>",
            "<a href=https://shop.example/x>",
            '<a href="mailto:a@example.org">',
            "</a>",
            "<!--",
            "-->",
            "<style>",
            "</style>",
            "</body>",
        ]
    ),
)


@given(st.lists(_PARTS, max_size=12).map("".join))
def test_what_is_put_back_is_the_mail_byte_for_byte(document: str) -> None:
    originals: dict[str, str] = {}

    def make(target: str) -> str:
        originals[f"\0{len(originals)}\0"] = target
        return f"\0{len(originals) - 1}\0"

    marked = replace_links(document, make)
    pattern = "(.*?)".join(re.escape(part) for part in re.split("\0[0-9]+\0", marked))
    found = re.fullmatch(pattern, document, re.DOTALL)

    assert found is not None
    values = [find_target(one.replace("&amp;", "&")) for one in found.groups()]
    assert all(value.lower().startswith(("http://", "https://")) for value in originals.values())
    assert len(values) == len(originals)
    assert replace_links(document, lambda _: None) == document
    assert _IMAGE.sub("", rewrite(document, Tracking(opens=True))) == document


@given(st.text(max_size=60))
def test_a_target_is_always_an_address_of_the_web_on_one_line(text: str) -> None:
    for link in (text, f"https://shop.example/{text}"):
        target = find_target(link)
        if target is not None:
            assert target.isascii()
            assert target.isprintable()
            assert " " not in target
            assert target.lower().startswith(("http://", "https://"))
            assert find_target(target) == target


@given(st.binary(max_size=80))
def test_bytes_that_are_signed_for_nothing_lead_nowhere(data: bytes) -> None:
    token = sign_link(OTHER, LinkPurpose.CLICK, data)

    assert read_click(SECRET, token) is None
    assert read_open(SECRET, token) is None


def test_a_token_is_of_use_for_its_purpose_and_its_environment_alone() -> None:
    click = sign_link(SECRET, LinkPurpose.CLICK, MESSAGE + b"https://shop.example")
    image = sign_link(SECRET, LinkPurpose.OPEN, MESSAGE)
    unsubscribe = sign_link(SECRET, LinkPurpose.UNSUBSCRIBE, MESSAGE + b"https://shop.example")

    assert read_click(SECRET, click) is not None
    assert read_open(SECRET, image) is not None
    assert read_click(NEIGHBOUR, click) is None
    assert read_open(NEIGHBOUR, image) is None
    assert read_open(SECRET, click) is None
    assert read_click(SECRET, image) is None
    assert read_click(SECRET, unsubscribe) is None
    assert read_click(SECRET, click[:-1]) is None
    assert read_click(SECRET, f"{click}A") is None


@pytest.mark.parametrize("target", [b"//evil.example", b"javascript:alert(1)", b"https://a\r\nX: y", b"\xff", b""])
def test_even_a_signed_target_must_be_an_address_of_the_web(target: bytes) -> None:
    assert read_click(SECRET, sign_link(SECRET, LinkPurpose.CLICK, MESSAGE + target)) is None


def test_only_the_host_of_links_differs() -> None:
    assert make_base("https://api.example/v/", None) == "https://api.example/v"
    assert make_base("https://api.example/v", "links.example") == "https://links.example/v"
    assert make_base("http://api.example:3000", "links.example") == "http://links.example:3000"
