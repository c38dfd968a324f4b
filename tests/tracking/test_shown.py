"""Links as people are shown them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.tracking.shown import MASK, show_link


@pytest.mark.parametrize(
    "link",
    [
        "https://shop.example/tea?size=1&sort=new",
        "https://shop.example/the-ten-best-teas-of-this-autumn-and-of-the-next",
        "https://shop.example/a?q=a%20rather%20long%20search%20for%20green%20tea#reviews",
        "https://shop.example:8443/a?empty=&flag",
    ],
)
def test_ordinary_links_stay(link: str) -> None:
    assert show_link(link) == link


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("https://ada:pw@shop.example/a", "https://shop.example/a"),
        ("https://shop.example/in?token=abc&from=mail", f"https://shop.example/in?token={MASK}&from=mail"),
        (
            "https://s3.example/f?X-Amz-Signature=0a&X-Amz-Date=1",
            f"https://s3.example/f?X-Amz-Signature={MASK}&X-Amz-Date=1",
        ),
        ("https://shop.example/a#access_token=abc", f"https://shop.example/a#{MASK}"),
        (f"https://shop.example/in/{'a1B2' * 10}/go", f"https://shop.example/in/{MASK}/go"),
        (f"https://shop.example/in?x={'a1B2' * 10}", f"https://shop.example/in?x={MASK}"),
        (f"https://shop.example/in?{'a1B2' * 10}", f"https://shop.example/in?{MASK}"),
    ],
)
def test_what_opens_something_is_masked(link: str, shown: str) -> None:
    assert show_link(link) == shown


@given(
    st.text("abcdefXYZ0123456789", min_size=32, max_size=80),
    st.sampled_from(["/{}", "?a={}", "?a=1&token={}", "#t={}"]),
)
def test_no_long_secret_is_shown(secret: str, form: str) -> None:
    assert secret not in show_link("https://shop.example" + form.format(secret))
