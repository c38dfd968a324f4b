"""Members behind a proxy of the operator are told apart by the address that it names."""

import pytest

from clarion.settings.model import Settings
from clarion.vocabulary import Role
from tests.members.support import PASSWORD, SignIn

CLIENT, OUTSIDER = "203.0.113.7", "198.51.100.9"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return Settings(data_dir=settings.data_dir, trusted_proxies=("127.0.0.0/8",))


async def test_an_outsider_does_not_slow_down_others(make_browser: SignIn) -> None:
    member = await make_browser(Role.VIEWER)

    async def sign_in(client: str, email: str, password: str) -> int:
        body, headers = {"email": email, "password": password}, {"X-Forwarded-For": client}
        return (await member.post("/v1/auth/sign-in", json=body, headers=headers)).status_code

    outside = [await sign_in(OUTSIDER, f"guess-{number}@example.com", "wrong") for number in range(31)]
    wrong, right = [await sign_in(CLIENT, member.member.email, one) for one in ("wrong", PASSWORD)]
    sessions = (await member.get("/v1/auth/sessions")).json()

    assert (outside[-1], wrong, right) == (429, 401, 200)
    assert CLIENT in [one.get("address") for one in sessions]
