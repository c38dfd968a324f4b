"""Requests with invalid API keys by client address, so that those who try many keys are slowed down."""

import ipaddress
from functools import lru_cache

from clarion.clock import MINUTE, SECOND, Clock, Millis
from clarion.errors import RateLimited, Unauthenticated

MAX_ADDRESSES = 10_000
_IPV6_NETWORK = 64
"""The bits of an address that one customer of a network cannot choose freely."""


class FailedAttempts:
    """A bucket of failures for each address, for the addresses that failed last.

    It decides only how a failure is answered and how fast an unknown key is looked up: a valid key is accepted from
    every address, because many clients may share one.
    """

    def __init__(self, clock: Clock, per_minute: int) -> None:
        self._clock = clock
        self._per_minute = per_minute
        self._failures: dict[str, tuple[float, Millis]] = {}

    def is_suspect(self, address: str) -> bool:
        """Whether an address has failed more often than it may."""
        return bool(self._failures) and self._count(network_of(address), self._clock.now()) >= self._per_minute

    def answer(self, address: str, error: Unauthenticated) -> Unauthenticated | RateLimited:
        """Record a failure; returns what to answer: the error, or a refusal if the address has failed too often."""
        if not self._per_minute:
            return error
        network, now = network_of(address), self._clock.now()
        count = self._count(network, now)
        # Those who failed last are at the end, so the first one is the one to forget.
        self._failures.pop(network, None)
        if len(self._failures) >= MAX_ADDRESSES:
            del self._failures[next(iter(self._failures))]
        self._failures[network] = (min(count + 1, self._per_minute), now)
        return error if count + 1 <= self._per_minute else _make_refusal(Millis(MINUTE // self._per_minute))

    def _count(self, network: str, now: Millis) -> float:
        count, since = self._failures.get(network, (0.0, now))
        return max(0.0, count - (now - since) * self._per_minute / MINUTE)


def _make_refusal(wait: Millis) -> RateLimited:
    seconds = max(1, -(-wait // SECOND))
    return RateLimited(
        "Too many requests with invalid API keys came from this address, this one included; "
        f"check the Authorization header, and try again in {seconds} s",
        retry_after=seconds,
        ctx={"category": "authentication", "retryAfter": seconds},
    )


@lru_cache(maxsize=1024)
def network_of(address: str) -> str:
    if ":" not in address:
        return address
    try:
        return str(ipaddress.ip_network((address.partition("%")[0], _IPV6_NETWORK), strict=False))
    except ValueError:
        return address
