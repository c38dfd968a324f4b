"""The address of a client behind proxies: theirs where the operator's proxies say so, and never what clients claim."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.errors import SettingsError
from clarion.http.server.proxies import TrustedProxies
from clarion.settings.model import Settings
from tests.support import Api

PROXY, INNER, CLIENT, LIAR = "10.0.0.1", "10.1.2.3", "203.0.113.7", "198.51.100.9"
PROXIES = TrustedProxies(["10.0.0.0/8", "2001:db8:ffff::/48"])


def find(peer: str, *lines: str) -> str:
    pairs = (line.partition(": ") for line in lines)
    return PROXIES.find_client(peer, [(name.encode(), value.encode()) for name, _, value in pairs])


@pytest.mark.parametrize(
    ("peer", "lines", "found"),
    [
        (PROXY, [f"x-forwarded-for: {CLIENT}"], CLIENT),
        (PROXY, [f"x-forwarded-for: {LIAR}, {CLIENT}"], CLIENT),
        (PROXY, [f"x-forwarded-for: {LIAR}, {CLIENT}, {INNER}"], CLIENT),
        (PROXY, [f"x-forwarded-for: {LIAR}", f"x-forwarded-for: {CLIENT}"], CLIENT),
        (PROXY, [f"x-forwarded-for: {CLIENT}:4711"], CLIENT),
        (PROXY, ["x-forwarded-for: [2001:db8::1]:4711"], "2001:db8::1"),
        (PROXY, ["x-forwarded-for: 2001:DB8::1"], "2001:db8::1"),
        (PROXY, [f"x-forwarded-for: ::ffff:{CLIENT}"], CLIENT),
        (f"::ffff:{PROXY}", [f"x-forwarded-for: {CLIENT}"], CLIENT),
        ("2001:db8:ffff::1", [f"x-forwarded-for: {CLIENT}"], CLIENT),
        (PROXY, [f"x-forwarded-for: {INNER}"], INNER),
        (PROXY, [f"x-forwarded-for: {CLIENT}, unknown"], PROXY),
        (PROXY, [f"x-forwarded-for: {CLIENT}, unknown, {INNER}"], INNER),
        (PROXY, ["x-forwarded-for: "], PROXY),
        (PROXY, [], PROXY),
        (PROXY, [f"forwarded: for={CLIENT};proto=https;by=10.0.0.1"], CLIENT),
        (PROXY, [f'forwarded: for={LIAR}, For="[2001:db8::1]:4711"'], "2001:db8::1"),
        (PROXY, [f"forwarded: for={LIAR}, for=_hidden"], PROXY),
        (PROXY, ["forwarded: proto=https"], PROXY),
        (PROXY, [f"forwarded: for={LIAR}", f"x-forwarded-for: {CLIENT}"], PROXY),
        (PROXY, [f"forwarded: for={CLIENT}", f"x-forwarded-for: {CLIENT}"], CLIENT),
        (LIAR, [f"x-forwarded-for: {CLIENT}"], LIAR),
        (LIAR, [f"forwarded: for={CLIENT}"], LIAR),
        ("", [f"x-forwarded-for: {CLIENT}"], ""),
    ],
)
def test_the_client_is_the_last_address_that_is_no_proxy_of_ours(peer: str, lines: list[str], found: str) -> None:
    assert find(peer, *lines) == found


@given(claimed=st.text(st.characters(codec="latin-1", exclude_characters="\r\n")))
def test_whatever_a_client_claims_it_cannot_choose_its_address(claimed: str) -> None:
    value = claimed.encode("latin-1")

    by_proxy = PROXIES.find_client(PROXY, [(b"x-forwarded-for", value + b", " + CLIENT.encode())])
    also = PROXIES.find_client(PROXY, [(b"forwarded", value + b", for=" + CLIENT.encode()), (b"accept", b"*/*")])

    assert (by_proxy, also) == (CLIENT, CLIENT)


class TestBehindAProxy:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return Settings(data_dir=settings.data_dir, trusted_proxies=("127.0.0.0/8",), failed_keys_per_minute=3)

    async def test_failures_count_for_the_client_that_the_proxy_names(self, api: Api) -> None:
        async def fail(client: str) -> int:
            headers = {"Authorization": "ApiKey wrong", "X-Forwarded-For": client}
            return (await api.get("/v2/topics", headers=headers)).status_code

        assert [await fail(LIAR) for _ in range(4)] == [401, 401, 401, 429]
        assert await fail(f"{CLIENT}, {LIAR}") == 429
        assert await fail(CLIENT) == 401


async def test_without_proxies_the_header_is_not_read(api: Api) -> None:
    statuses = [
        (await api.get("/v2/topics", headers={"Authorization": "ApiKey wrong", "X-Forwarded-For": f"10.0.0.{number}"}))
        for number in range(62)
    ]

    assert statuses[-1].status_code == 429


def test_a_proxy_that_is_no_network_is_refused() -> None:
    with pytest.raises(SettingsError, match="CLARION_TRUSTED_PROXIES"):
        Settings.load({"CLARION_TRUSTED_PROXIES": "proxy.internal"})
