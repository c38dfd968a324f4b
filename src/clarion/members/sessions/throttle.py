"""Counts attempts to sign in, so that those who guess passwords are slowed down.

Attempts are counted for each address, and for each account from each address. An account that is attacked from many
addresses allows fewer attempts from each, and never none. Like failed API keys, attempts are counted in each process.
"""

from collections.abc import Hashable

from msgspec import Struct

from clarion.clock import HOUR, MINUTE, SECOND, Clock, Millis
from clarion.errors import RateLimited
from clarion.http.attempts import network_of
from clarion.members.model import find_address

MAX_COUNTED = 10_000


class AttemptLimit(Struct, frozen=True):
    """How many attempts are possible at once, and how long it takes until one more is."""

    burst: int
    every: Millis


OF_ADDRESS = AttemptLimit(30, Millis(20 * SECOND))
OF_ACCOUNT_AND_ADDRESS = AttemptLimit(5, Millis(30 * SECOND))
OF_ATTACKED_ACCOUNT_AND_ADDRESS = AttemptLimit(1, Millis(MINUTE))
ATTACKED_ACCOUNT = AttemptLimit(100, Millis(HOUR // 100))
"""An account is attacked if it gets more failed attempts than this, from all addresses together."""


class SignInThrottle:
    """Counts attempts before passwords are checked, so that many at the same time count too."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._addresses = _Counters()
        self._pairs = _Counters()
        self._accounts = _Counters()

    def count(self, address: str, email: str) -> Millis:
        """Count an attempt, whether the account exists or not; returns how long it came too early."""
        now = self._clock.now()
        network, account = network_of(address), find_address(email) or email
        is_attacked = self._accounts.wait(account, ATTACKED_ACCOUNT, now) > 0
        of_pair = OF_ATTACKED_ACCOUNT_AND_ADDRESS if is_attacked else OF_ACCOUNT_AND_ADDRESS
        wait = max(
            self._addresses.wait(network, OF_ADDRESS, now),
            self._pairs.wait((network, account), of_pair, now),
        )
        if not wait:
            self._addresses.add(network, OF_ADDRESS, now)
            self._pairs.add((network, account), of_pair, now)
            self._accounts.add(account, ATTACKED_ACCOUNT, now)
        return wait

    def forgive(self, address: str, email: str) -> None:
        """Take back an attempt that succeeded, with the failures of the same person before it."""
        network, account = network_of(address), find_address(email) or email
        self._addresses.remove(network)
        self._accounts.remove(account)
        self._pairs.forget((network, account))


class ResetThrottle(SignInThrottle):
    """Counts requests for new passwords, apart: those who need one have often tried to sign in before."""

    def admit(self, address: str, email: str) -> None:
        """Count a request; raises RateLimited if there were too many."""
        wait = self.count(address, email)
        if wait:
            raise make_refusal(wait)


class _Counters:
    """Counts that drain with time, of those that were counted last."""

    def __init__(self) -> None:
        self._levels: dict[Hashable, tuple[float, Millis]] = {}

    def wait(self, key: Hashable, limit: AttemptLimit, now: Millis) -> Millis:
        """Milliseconds until one more is possible."""
        excess = self._level(key, limit, now) + 1 - limit.burst
        return Millis(max(0, -int(-excess * limit.every // 1)) if excess > 0 else 0)

    def add(self, key: Hashable, limit: AttemptLimit, now: Millis) -> None:
        level = min(self._level(key, limit, now) + 1, float(limit.burst))
        # Those that were counted last are at the end, so the first one is the one to forget.
        self._levels.pop(key, None)
        if len(self._levels) >= MAX_COUNTED:
            del self._levels[next(iter(self._levels))]
        self._levels[key] = (level, now)

    def remove(self, key: Hashable) -> None:
        level, since = self._levels.get(key, (0.0, Millis(0)))
        if level > 1:
            self._levels[key] = (level - 1, since)
        else:
            self.forget(key)

    def forget(self, key: Hashable) -> None:
        self._levels.pop(key, None)

    def _level(self, key: Hashable, limit: AttemptLimit, now: Millis) -> float:
        level, since = self._levels.get(key, (0.0, now))
        return max(0.0, level - (now - since) / limit.every)


def make_refusal(wait: Millis) -> RateLimited:
    seconds = max(1, -(-wait // SECOND))
    return RateLimited(
        f"Too many attempts to sign in; try again in {seconds} s",
        retry_after=seconds,
        ctx={"category": "signIn", "retryAfter": seconds},
    )
