"""What is left of markup in texts that an inbox may show as HTML."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.templates import TemplateProblem, is_script_link, sanitize_text

PIECES = st.sampled_from(
    [
        *("<", ">", "</", "<!", "<?", "<!--", "-->", "b", "img", "x", " ", "/", "\n", "\f", "=", '"', "'", "a"),
        *(
            "onclick",
            "title",
            "onerror=alert(1)",
            "&lt;",
            "&",
            "script",
            "svg",
            "1",
            "style",
            "<img src=x onerror=y>",
            "<![CDATA[",
        ),
    ]
)


class Handlers(HTMLParser):
    """Collects what would run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [tag] if tag in ("script", "svg", "iframe", "style") else []
        self.found += [name for name, _ in attrs if name.startswith("on")]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain & simple; \"quoted\" 'too' > that",
        "a < b",
        "a<b",
        "I <3 you, not </3",
        "if x<y and z>w",
        "Ada <ada@example.com> wrote: List<String> of <your name>",
        "&lt;img src=x onerror=alert(1)&gt;",
        "wow <!",
        "**bold** and <br",
    ],
)
def test_a_text_without_html_stays_as_it_is(text: str) -> None:
    assert sanitize_text(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<b>Hi</b>", "<b>Hi</b>"),
        ("Hi<img src=x onerror=alert(1)>", 'Hi<img src="x">'),
        ("<script>alert(1)</script>Hi", "Hi"),
        ("<SVG/onload=alert(1)>Hi", "Hi"),
        ("<x onclick=alert(1)>Hi</x>", "&lt;x onclick=alert(1)&gt;Hi&lt;/x&gt;"),
        ("<x <1 onclick=alert(1)>Hi", "&lt;x &lt;1 onclick=alert(1)&gt;Hi"),
        ('<a href="javascript:alert(1)">x</a>', '<a rel="noopener noreferrer">x</a>'),
        (
            '<a href="/x" target="_blank">x</a>',
            '<a href="/x" target="_blank" rel="noopener noreferrer">x</a>',
        ),
        ("<b>Tom & Jerry</b>", "<b>Tom &amp; Jerry</b>"),
        ("<b>Ada</b> <ada@example.com>", "<b>Ada</b> &lt;ada@example.com&gt;"),
        ("<i>x</i> a < b, a<b", "<i>x</i> a &lt; b, a&lt;b"),
        ("<img src=x onerror=alert(1) ", "&lt;img src=x onerror=alert(1) "),
    ],
)
def test_only_harmless_markup_is_left(text: str, expected: str) -> None:
    assert sanitize_text(text) == expected


@given(st.lists(PIECES, max_size=14).map("".join))
def test_nothing_that_runs_is_left_and_cleaning_again_changes_nothing(text: str) -> None:
    cleaned = sanitize_text(text)

    handlers = Handlers()
    handlers.feed(cleaned)
    handlers.close()
    assert handlers.found == []
    assert sanitize_text(cleaned) == cleaned


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", " JavaScript:x", "java\nscript:x", "\x01javascript:x", "data:text/html,x", "vbscript:x"],
)
def test_a_link_that_runs_code_is_recognised_in_any_spelling(url: str) -> None:
    assert is_script_link(url)


@pytest.mark.parametrize("url", ["", "/a", "https://x.example", "mailto:a@b.example", "app://open/1", "javascript/x"])
def test_other_links_are_followed(url: str) -> None:
    assert not is_script_link(url)


@pytest.mark.parametrize("text", ["<div><p>" * 5_000, "<a " + "".join(f"a{n}=1 " for n in range(20_000)) + ">"])
def test_markup_that_takes_too_much_work_is_a_problem(text: str) -> None:
    with pytest.raises(TemplateProblem, match="too many tags or attributes"):
        sanitize_text(text)
