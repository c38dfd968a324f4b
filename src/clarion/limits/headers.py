"""What responses say about a rate limit: how many requests are left, or why this one is refused."""

from clarion.clock import SECOND, Millis
from clarion.errors import RateLimited
from clarion.settings.rate_limits import LimitCategory, RateLimit

Headers = list[tuple[bytes, bytes]]

HEADER_NAMES = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy")

_COUNTED = {
    LimitCategory.TRIGGER: "triggered events",
    LimitCategory.CONFIGURATION: "changes of the configuration",
    LimitCategory.ALL: "requests",
}
_WINDOWS = (1, 10, 60, 3600)


class LimitTexts:
    """The headers and the refusal of one limit; what does not change from request to request is made once."""

    def __init__(self, category: LimitCategory, limit: RateLimit) -> None:
        self.category = category
        self.limit = limit
        window = next((one for one in _WINDOWS if limit.per_second * one >= 1), _WINDOWS[-1])
        # A rate that is not a whole number is shown for a longer time, to be exact.
        if limit.per_second % 1 and window == 1:
            window = _WINDOWS[1]
        self._amount = max(1, int(limit.per_second * window))
        self._policy = (
            f'{self._amount};w={window};burst={int(limit.capacity)};comment="token bucket";category="{category}"'
        )
        self._limit_header = (b"ratelimit-limit", str(self._amount).encode())
        self._single_policy = self._policy_header(1)

    def headers(self, tokens: float, cost: int) -> Headers:
        return self._headers(max(0, int(tokens)), _seconds(self.limit.wait(tokens, cost)), cost)

    def refusal(self, tokens: float, cost: int) -> RateLimited:
        limit = self.limit
        seconds = max(1, _seconds(limit.wait(tokens, cost)))
        return RateLimited(
            f"This environment has reached its limit of {limit.per_second:g} {_COUNTED[self.category]} per second, "
            f"{limit.capacity:g} at once ('{self.category}'); try again in {seconds} s, "
            "or raise the limit with PATCH /v1/environments/{environmentId}",
            retry_after=seconds,
            headers=self._headers(min(max(0, int(tokens)), cost - 1), seconds, cost),
            ctx={
                "category": str(self.category),
                "limit": {"perSecond": limit.per_second, "burst": int(limit.capacity)},
                "cost": cost,
                "retryAfter": seconds,
            },
        )

    def _headers(self, remaining: int, seconds: int, cost: int) -> Headers:
        return [
            self._limit_header,
            (b"ratelimit-remaining", b"%d" % remaining),
            (b"ratelimit-reset", b"%d" % seconds),
            self._single_policy if cost == 1 else self._policy_header(cost),
        ]

    def _policy_header(self, cost: int) -> tuple[bytes, bytes]:
        return b"ratelimit-policy", f'{self._policy};cost="{cost}"'.encode()


def _seconds(wait: Millis) -> int:
    return -(-wait // SECOND)
