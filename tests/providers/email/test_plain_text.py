"""The text alternative of HTML."""

import pytest

from clarion.providers.email.plain_text import is_html, plain_text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One</p><p>Two</p>", "One\n\nTwo"),
        ("One<br>Two<br/>Three", "One\nTwo\nThree"),
        ("<div><div>One</div></div><div>Two</div>", "One\nTwo"),
        ("<ul><li>One</li><li>Two</li></ul>", "- One\n- Two"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
        ("a   b\n\tc&nbsp;d", "a b c d"),
        ("5 &lt; 6 &amp; &#x1F389;", "5 < 6 & 🎉"),
        ('<a href="https://example.com/x?a=1&amp;b=2">Read</a>!', "Read (https://example.com/x?a=1&b=2)!"),
        ('<a href="https://example.com">https://example.com</a>', "https://example.com"),
        ('<a href="mailto:ada@example.com">ada@example.com</a>', "ada@example.com"),
        ('<a href="javascript:alert(1)">Click</a>', "Click"),
        ('<img src="x" alt="A cat"> sits', "A cat sits"),
        ("<head><title>T</title><style>p{}</style></head><body><script>x()</script>Body</body>", "Body"),
        ("<!-- hidden --><p>Shown", "Shown"),
        ("<!--[if mso]><p>For Outlook</p><![endif]--><p>Shown</p>", "Shown"),
        ("a<<!-- hidden -->b>", "a<b>"),
        ("<p>One</p><style>p > b {}</STYLE ><p>Two</p>", "One\n\nTwo"),
        ("<hr><hr> <hr>One", "One"),
        ('<img src="x" alt="&amp;lt;b&amp;gt;">', "&lt;b&gt;"),
        ("<p>Broken <b>markup", "Broken markup"),
        ("", ""),
    ],
)
def test_html_becomes_its_visible_text(html: str, text: str) -> None:
    assert plain_text(html) == f"{text}\n"


@pytest.mark.parametrize(
    "piece", ["<a ", "<", "<!--", "<script>", "</a", "<a href='", "<p>", "&#", "<!-", "</style", "<p> "]
)
def test_broken_html_is_read_in_linear_time(piece: str) -> None:
    assert plain_text(piece * 50_000).endswith("\n")


@pytest.mark.parametrize("before", ["x" * 500_000 + "<br>", "<br>" + " " * 500_000, "<br> <b>" + " " * 500_000])
def test_long_texts_before_many_blocks_are_read_in_linear_time(before: str) -> None:
    assert plain_text(before + "<ul>" * 125_000 + "y").endswith("y\n")


@pytest.mark.parametrize("content", ["<b>x</b>", "a<br>b", "&amp;", "<!doctype html>", "&#39;", "</p>"])
def test_markup_and_entities_are_html(content: str) -> None:
    assert is_html(content)


@pytest.mark.parametrize("content", ["", "Hello", "1 < 2 and 3 > 2", "a & b", "<3"])
def test_text_is_not_mistaken_for_html(content: str) -> None:
    assert not is_html(content)
