"""Passwords are hashed with Argon2id; attempts are slowed down for those who guess, not for those who know them."""

import asyncio

import pytest

from clarion.clock import ManualClock
from clarion.errors import ClarionError, RateLimited, Unauthenticated
from clarion.members.sessions.passwords import MAX_SLOW, MAX_SLOW_OF_ACCOUNT, PasswordAttempt, PasswordChecks, Passwords
from clarion.members.sessions.throttle import SignInThrottle

OWNER, RIGHT = "owner@example.com", "the right one"
PROXY = "10.0.0.1"
WRONG = Unauthenticated("not right")


class SlowPasswords(Passwords):
    """Compares texts; holds checks back until they may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.may_go_on = asyncio.Event()
        self.under_way = 0
        self.most_under_way = 0
        self.checked = 0

    async def check(self, password: str, stored: str | None) -> bool:
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        await self.may_go_on.wait()
        self.under_way -= 1
        self.checked += 1
        return password == stored


@pytest.fixture
def passwords() -> SlowPasswords:
    made = SlowPasswords()
    made.may_go_on.set()
    return made


@pytest.fixture
def checks(passwords: SlowPasswords, clock: ManualClock) -> PasswordChecks:
    return PasswordChecks(passwords, SignInThrottle(clock), pause_seconds=0)


async def sign_in(
    checks: PasswordChecks, password: str, email: str = OWNER, address: str = PROXY
) -> ClarionError | None:
    """Returns the refusal, if there is one."""
    attempt = PasswordAttempt(address=address, email=email, password=password, stored=RIGHT)
    try:
        await checks.require(attempt, wrong=WRONG)
    except ClarionError as error:
        return error
    return None


async def fail(checks: PasswordChecks, times: int) -> None:
    """Fail at many accounts, the owner's among them."""
    for number in range(times):
        await sign_in(checks, "wrong", f"{number}@example.com")
        await sign_in(checks, "wrong")


async def test_the_right_password_gets_in_after_any_number_of_failures(checks: PasswordChecks) -> None:
    await fail(checks, 200)

    assert await sign_in(checks, RIGHT) is None
    assert await sign_in(checks, RIGHT, "another@example.com") is None


async def test_a_wrong_one_is_told_to_wait_after_some_failures(checks: PasswordChecks) -> None:
    answers = [await sign_in(checks, "wrong") for _ in range(7)]

    assert answers[:5] == [WRONG] * 5
    for refusal in answers[5:]:
        assert isinstance(refusal, RateLimited)
        assert refusal.retry_after >= 1


async def test_those_who_failed_hash_one_at_a_time_and_others_need_not_wait(
    checks: PasswordChecks, passwords: SlowPasswords
) -> None:
    await fail(checks, 40)
    passwords.most_under_way = 0
    passwords.may_go_on.clear()

    guesses = [asyncio.create_task(sign_in(checks, "wrong", f"{number}@example.com")) for number in range(20)]
    await asyncio.sleep(0.05)
    of_guesses = passwords.most_under_way
    home = asyncio.create_task(sign_in(checks, RIGHT, address="203.0.113.7"))
    await asyncio.sleep(0.05)
    with_home = passwords.most_under_way
    passwords.may_go_on.set()

    assert await home is None
    await asyncio.gather(*guesses)
    assert (of_guesses, with_home) == (1, 2)


async def test_the_number_of_those_who_wait_is_bounded(checks: PasswordChecks, passwords: SlowPasswords) -> None:
    await fail(checks, 40)
    passwords.checked = 0
    passwords.may_go_on.clear()

    of_one = [asyncio.create_task(sign_in(checks, "wrong")) for _ in range(2 * MAX_SLOW_OF_ACCOUNT)]
    of_others = [asyncio.create_task(sign_in(checks, "wrong", f"{number}@example.com")) for number in range(MAX_SLOW)]
    await asyncio.sleep(0.05)
    passwords.may_go_on.set()
    answers = await asyncio.gather(*of_one, *of_others)

    assert all(isinstance(one, RateLimited) for one in answers)
    assert passwords.checked == MAX_SLOW
    assert await sign_in(checks, RIGHT) is None
    assert checks._lines == {}


async def test_only_the_right_password_has_the_hash() -> None:
    passwords = Passwords()
    stored = await passwords.hash("correct horse battery")

    assert stored.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert await passwords.check("correct horse battery", stored)
    assert not await passwords.check("correct horse batterx", stored)
    assert not await passwords.check("correct horse battery", None)


async def test_the_same_password_has_another_hash_each_time() -> None:
    passwords = Passwords()

    assert await passwords.hash("correct horse battery") != await passwords.hash("correct horse battery")
