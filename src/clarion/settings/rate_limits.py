"""Rate limits: what they count, the rules of a token bucket, and their form in the settings."""

import re
from enum import StrEnum
from typing import Self

from msgspec import Struct

from clarion.clock import SECOND, Millis

MAX_PER_SECOND = 1_000_000
MAX_BURST = 10_000_000


class LimitCategory(StrEnum):
    """What a rate limit counts; each request counts in its own category and in ALL."""

    TRIGGER = "trigger"
    """Events that are triggered; each event of a bulk counts."""
    CONFIGURATION = "configuration"
    """Changes of workflows, integrations, webhooks, environments and keys."""
    ALL = "global"
    """All requests."""

    # That of enums is written in Python, and each request looks its category up.
    __hash__ = str.__hash__


class RateLimit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A token bucket: `per_second` on average, and up to `burst` at once; without `burst`, those of one second."""

    per_second: float
    burst: int | None = None

    @property
    def capacity(self) -> float:
        return max(1.0, self.per_second) if self.burst is None else float(self.burst)

    def within(self, ceiling: Self | None) -> Self:
        """This limit, or as much of it as another allows."""
        if ceiling is None or self.exceeds(ceiling) is False:
            return self
        burst = min(self.capacity, ceiling.capacity)
        return type(self)(per_second=min(self.per_second, ceiling.per_second), burst=max(1, int(burst)))

    def exceeds(self, ceiling: Self) -> bool:
        return self.per_second > ceiling.per_second or self.capacity > ceiling.capacity

    def refill(self, tokens: float, elapsed: int) -> float:
        """The tokens of a bucket that had `tokens` some milliseconds ago."""
        return min(self.capacity, tokens + max(0, elapsed) * self.per_second / SECOND)

    def needed(self, cost: int) -> float:
        """How many tokens a bucket must have to pay.

        What costs more than a full bucket is paid by a full one, which then owes the rest: it would otherwise be
        refused for ever, however long the caller waits.
        """
        return min(cost, self.capacity)

    def wait(self, tokens: float, cost: int) -> Millis:
        """How long until a bucket with `tokens` can pay."""
        missing = self.needed(cost) - tokens
        return Millis(-int(-missing * SECOND // self.per_second)) if missing > 0 else Millis(0)


_ENTRY = re.compile(r"(?P<category>[a-z]+)\s*=\s*(?P<rate>\d+(?:\.\d+)?)\s*/\s*s(?:\s+burst\s+(?P<burst>\d+))?")


def parse_rate_limits(text: str) -> dict[LimitCategory, RateLimit]:
    """Read `trigger=100/s burst 200, global=1000/s`; raises ValueError with a message that names what is wrong."""
    limits: dict[LimitCategory, RateLimit] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _ENTRY.fullmatch(part)
        if match is None:
            raise ValueError(f"'{part}' is not a limit such as 'trigger=100/s burst 200'")
        if match["category"] not in list(LimitCategory):
            raise ValueError(f"'{match['category']}' is not one of {', '.join(LimitCategory)}")
        category = LimitCategory(match["category"])
        if category in limits:
            raise ValueError(f"'{category}' is limited twice")
        rate, burst = float(match["rate"]), None if match["burst"] is None else int(match["burst"])
        if not 0 < rate <= MAX_PER_SECOND:
            raise ValueError(f"the rate of '{category}' must be above 0 and at most {MAX_PER_SECOND}")
        if burst is not None and not 1 <= burst <= MAX_BURST:
            raise ValueError(f"the burst of '{category}' must be between 1 and {MAX_BURST}")
        limits[category] = RateLimit(per_second=rate, burst=burst)
    return limits
