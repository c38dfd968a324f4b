"""How attempts to sign in are counted."""

import pytest

from clarion.clock import DAY, HOUR, MINUTE, SECOND, ManualClock
from clarion.http.attempts import MAX_COUNTED
from clarion.members.sessions.throttle import SignInThrottle

OWNER = "owner@example.com"
HOME, ATTACKER = "203.0.113.7", "198.51.100.1"


@pytest.fixture
def throttle(clock: ManualClock) -> SignInThrottle:
    return SignInThrottle(clock)


def count_admitted(throttle: SignInThrottle, address: str, email: str, attempts: int) -> int:
    admitted = 0
    for _ in range(attempts):
        admitted += not throttle.count(address, email)
    return admitted


def test_an_address_has_five_attempts_at_an_account_and_then_two_a_minute(
    throttle: SignInThrottle, clock: ManualClock
) -> None:
    assert count_admitted(throttle, ATTACKER, OWNER, 10) == 5
    clock.move(MINUTE)
    assert count_admitted(throttle, ATTACKER, OWNER, 10) == 2


def test_the_same_account_in_another_spelling_is_the_same_account(throttle: SignInThrottle) -> None:
    assert (
        count_admitted(throttle, ATTACKER, OWNER, 3) + count_admitted(throttle, ATTACKER, "OWNER@Example.com", 9) == 5
    )


def test_an_address_that_tries_many_accounts_is_slowed_down(throttle: SignInThrottle) -> None:
    admitted = sum(count_admitted(throttle, ATTACKER, f"{number}@example.com", 1) for number in range(100))

    assert admitted == 30


def test_addresses_of_one_ipv6_network_count_together(throttle: SignInThrottle) -> None:
    admitted = sum(count_admitted(throttle, f"2001:db8::{number:x}", OWNER, 1) for number in range(100))

    assert admitted == 5


def test_an_attack_from_one_address_does_not_slow_down_the_owner(throttle: SignInThrottle) -> None:
    count_admitted(throttle, ATTACKER, OWNER, 50)

    assert count_admitted(throttle, HOME, OWNER, 5) == 5


def test_an_attack_from_many_addresses_slows_each_down_and_locks_no_owner_out(
    throttle: SignInThrottle, clock: ManualClock
) -> None:
    for number in range(60):
        count_admitted(throttle, f"198.51.100.{number}", OWNER, 2)

    assert count_admitted(throttle, "198.51.101.1", OWNER, 5) == 1
    assert count_admitted(throttle, HOME, OWNER, 5) == 1
    clock.move(MINUTE)
    assert count_admitted(throttle, HOME, OWNER, 5) == 1


def test_an_attack_is_forgotten(throttle: SignInThrottle, clock: ManualClock) -> None:
    for number in range(60):
        count_admitted(throttle, f"198.51.100.{number}", OWNER, 2)

    clock.move(2 * HOUR)

    assert count_admitted(throttle, HOME, OWNER, 10) == 5


def test_attempts_that_succeed_do_not_count(throttle: SignInThrottle) -> None:
    for _ in range(100):
        throttle.count(HOME, OWNER)
        throttle.forgive(HOME, OWNER)

    assert count_admitted(throttle, HOME, OWNER, 10) == 5


def test_the_wait_is_enough_and_no_longer_than_needed(throttle: SignInThrottle, clock: ManualClock) -> None:
    count_admitted(throttle, ATTACKER, OWNER, 5)
    wait = throttle.count(ATTACKER, OWNER)

    clock.move(wait - SECOND)
    assert throttle.count(ATTACKER, OWNER) > 0
    clock.move(SECOND)
    assert throttle.count(ATTACKER, OWNER) == 0


def test_the_counts_are_bounded(throttle: SignInThrottle, clock: ManualClock) -> None:
    for number in range(2 * MAX_COUNTED):
        throttle.count(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", f"{number}@example.com")
    clock.move(DAY)

    assert all(len(one.levels) == MAX_COUNTED for one in (throttle._addresses, throttle._pairs, throttle._accounts))
