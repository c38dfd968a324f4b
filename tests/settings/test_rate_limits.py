"""The rules of token buckets, and their form in the settings."""

import pytest

from clarion.clock import SECOND
from clarion.settings.rate_limits import LimitCategory, RateLimit, parse_rate_limits


def test_limits_are_read_from_text() -> None:
    assert parse_rate_limits("trigger=100/s burst 200, configuration = 0.5/s ,global=1000 /s,") == {
        LimitCategory.TRIGGER: RateLimit(per_second=100, burst=200),
        LimitCategory.CONFIGURATION: RateLimit(per_second=0.5),
        LimitCategory.ALL: RateLimit(per_second=1000),
    }
    assert parse_rate_limits("") == {}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("trigger", "trigger"),
        ("trigger=fast", "trigger=fast"),
        ("trigger=100", "trigger=100"),
        ("trigger=100/m", "trigger=100/m"),
        ("trigger=-1/s", "trigger=-1/s"),
        ("triggers=100/s", "triggers"),
        ("trigger=0/s", "above 0"),
        ("trigger=1000001/s", "at most 1000000"),
        ("trigger=1/s burst 0", "burst"),
        ("trigger=1/s burst 10000001", "burst"),
        ("trigger=1/s, trigger=2/s", "twice"),
    ],
)
def test_a_limit_that_is_not_valid_is_named(text: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        parse_rate_limits(text)


def test_without_a_burst_a_bucket_has_the_tokens_of_a_second_and_at_least_one() -> None:
    assert RateLimit(per_second=20).capacity == 20
    assert RateLimit(per_second=0.1).capacity == 1
    assert RateLimit(per_second=20, burst=5).capacity == 5


def test_a_bucket_is_refilled_up_to_its_capacity() -> None:
    limit = RateLimit(per_second=10, burst=15)

    assert limit.refill(3, SECOND) == 13
    assert limit.refill(3, 10 * SECOND) == 15
    assert limit.refill(3, -SECOND) == 3


def test_the_time_to_wait_is_that_until_the_bucket_can_pay() -> None:
    limit = RateLimit(per_second=10, burst=15)

    assert limit.wait(0, 1) == 100
    assert limit.wait(0.75, 1) == 25
    assert limit.wait(5, 5) == 0
    assert limit.wait(0, 100) == 1500, "what costs more than a full bucket waits for a full one"
