"""Counts attempts to sign in, so that those who guess passwords are slowed down.

Attempts are counted for each address, and for each account from each address. An account that is attacked from many
addresses allows fewer attempts from each, and never none. Like failed API keys, attempts are counted in each process.
"""

from collections.abc import Hashable

from clarion.clock import HOUR, MINUTE, SECOND, Clock, Millis
from clarion.errors import RateLimited
from clarion.http.attempts import AttemptLimit, LeakyCounters, network_of
from clarion.members.model import find_address

OF_ADDRESS = AttemptLimit(30, Millis(20 * SECOND))
OF_ACCOUNT_AND_ADDRESS = AttemptLimit(5, Millis(30 * SECOND))
OF_ATTACKED_ACCOUNT_AND_ADDRESS = AttemptLimit(1, Millis(MINUTE))
ATTACKED_ACCOUNT = AttemptLimit(100, Millis(HOUR // 100))
"""An account is attacked if it gets more failed attempts than this, from all addresses together."""


class SignInThrottle:
    """Counts attempts before passwords are checked, so that many at the same time count too."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._addresses = LeakyCounters()
        self._pairs = LeakyCounters()
        self._accounts = LeakyCounters()

    def count(self, address: str, email: str) -> Millis:
        """Count an attempt, whether the account exists or not; returns how long it came too early."""
        now = self._clock.now()
        network, account = network_of(address), find_address(email) or email
        is_attacked = _wait(self._accounts, account, ATTACKED_ACCOUNT, now) > 0
        of_pair = OF_ATTACKED_ACCOUNT_AND_ADDRESS if is_attacked else OF_ACCOUNT_AND_ADDRESS
        wait = max(
            _wait(self._addresses, network, OF_ADDRESS, now),
            _wait(self._pairs, (network, account), of_pair, now),
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


def _wait(counters: LeakyCounters, key: Hashable, limit: AttemptLimit, now: Millis) -> Millis:
    """Milliseconds until one more is possible."""
    excess = counters.get_level(key, limit, now) + 1 - limit.burst
    return Millis(max(0, -int(-excess * limit.every // 1)) if excess > 0 else 0)


def make_refusal(wait: Millis) -> RateLimited:
    seconds = max(1, -(-wait // SECOND))
    return RateLimited(
        f"Too many attempts to sign in; try again in {seconds} s",
        retry_after=seconds,
        ctx={"category": "signIn", "retryAfter": seconds},
    )
