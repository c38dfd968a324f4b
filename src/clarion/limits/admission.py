"""Rate limits as the service sees them: a request is counted or refused, and the response says what is left."""

from typing import Any, Protocol

from clarion.clock import SECOND, Millis
from clarion.errors import RateLimited
from clarion.http.static import HeaderList
from clarion.ids import EnvironmentId
from clarion.settings.rate_limits import LimitCategory, RateLimit

HEADER_NAMES = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy")

_COUNTED = {
    LimitCategory.TRIGGER: "triggered events",
    LimitCategory.CONFIGURATION: "changes of the configuration",
    LimitCategory.ALL: "requests",
}
_WINDOWS = (1, 10, 60, 3600)
_NO_WAIT = (b"ratelimit-reset", b"0")


class Limiter(Protocol):
    """Counts the requests of environments."""

    async def admit(
        self, environment_id: EnvironmentId, category: LimitCategory, cost: int = 1, *, held: int = 0
    ) -> HeaderList:
        """Count a request in its category and in ALL, or raise RateLimited; returns headers for the response.

        `held` is what was counted for the same request before; it is given back first.
        """
        ...


class NoLimits:
    """Admits everything."""

    async def admit(self, *_: Any, **__: Any) -> HeaderList:
        return []


class LimitTexts:
    """The headers and the refusal of one limit; what does not change from request to request is made once."""

    def __init__(self, category: LimitCategory, limit: RateLimit) -> None:
        self._category = category
        self._limit = limit
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

    def headers(self, remaining: int, wait: Millis, cost: int) -> HeaderList:
        return [
            self._limit_header,
            (b"ratelimit-remaining", b"%d" % remaining),
            (b"ratelimit-reset", b"%d" % _seconds(wait)) if wait else _NO_WAIT,
            self._single_policy if cost == 1 else self._policy_header(cost),
        ]

    def refusal(self, remaining: int, wait: Millis, cost: int) -> RateLimited:
        limit = self._limit
        seconds = max(1, _seconds(wait))
        return RateLimited(
            f"This environment has reached its limit of {limit.per_second:g} {_COUNTED[self._category]} per second, "
            f"{limit.capacity:g} at once ('{self._category}'); try again in {seconds} s, "
            "or raise the limit with PATCH /v1/environments/{environmentId}",
            retry_after=seconds,
            headers=self.headers(remaining, Millis(seconds * SECOND), cost),
            ctx={
                "category": str(self._category),
                "limit": {"perSecond": limit.per_second, "burst": int(limit.capacity)},
                "cost": cost,
                "retryAfter": seconds,
            },
        )

    def _policy_header(self, cost: int) -> tuple[bytes, bytes]:
        return b"ratelimit-policy", f'{self._policy};cost="{cost}"'.encode()


def _seconds(wait: Millis) -> int:
    return -(-wait // SECOND)
