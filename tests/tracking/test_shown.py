"""Links as people are shown them."""

import secrets
import uuid
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.tracking.shown import MASK, show_link

FORMS = ["/{}", "/in/{}/go", "/a;{}", "?a={}", "?a=1&b={}", "?a=1;b={}", "?next=/reset?t={}", "?{}", "?{}=1", "#{}"]
TOKENS: list[Callable[[], str]] = [
    lambda: str(uuid.uuid4()),
    lambda: uuid.uuid4().hex,
    lambda: secrets.token_urlsafe(16),
    lambda: secrets.token_urlsafe(24),
    lambda: secrets.token_urlsafe(32),
    lambda: secrets.token_hex(20),
]


@pytest.mark.parametrize(
    "link",
    [
        "https://shop.example",
        "https://shop.example/",
        "https://shop.example/tea/green/",
        "https://shop.example/2024/05/the-ten-best-teas-of-this-autumn-and-of-the-next",
        "https://shop.example:8443/a_b/About.html",
    ],
)
def test_paths_of_words_stay(link: str) -> None:
    assert show_link(link) == link


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("https://ada:pw@shop.example/a", "https://shop.example/a"),
        ("https://shop.example/in?token=abc&from=mail", f"https://shop.example/in?token={MASK}&from={MASK}"),
        ("https://shop.example/a?a=1;token=secret", f"https://shop.example/a?a={MASK}&token={MASK}"),
        ("https://shop.example/a?next=/reset?token=abc", f"https://shop.example/a?next={MASK}"),
        ("https://shop.example/a?t%6Fken=abc", f"https://shop.example/a?{MASK}"),
        ("https://shop.example/a?empty=&hunter", f"https://shop.example/a?empty={MASK}&{MASK}"),
        ("https://shop.example/a#access_token=abc", "https://shop.example/a"),
        ("https://shop.example/#/reset/abc", "https://shop.example/"),
        ("https://shop.example/login/123456", f"https://shop.example/login/{MASK}"),
        ("https://shop.example/in/a1B2c3/go?x=1", f"https://shop.example/in/{MASK}?x={MASK}"),
        ("https://shop.example/%61%62/a", f"https://shop.example/{MASK}"),
        ("https://shop.example/a;jsessionid=x/b", f"https://shop.example/{MASK}"),
    ],
)
def test_what_may_open_something_is_left_out(link: str, shown: str) -> None:
    assert show_link(link) == shown


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("make", TOKENS)
def test_no_token_is_shown(make: Callable[[], str], form: str) -> None:
    for secret in (make() for _ in range(200)):
        assert secret not in show_link("https://shop.example" + form.format(secret))


@given(st.text("abcdefXYZ0123456789-_", min_size=6), st.sampled_from(FORMS))
def test_no_secret_with_a_digit_is_shown(secret: str, form: str) -> None:
    secret += "7"
    assert secret not in show_link("https://shop.example" + form.format(secret))
