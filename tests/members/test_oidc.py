"""Signing in with OpenID Connect, against a real provider on loopback."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from clarion.clock import MINUTE, ManualClock
from clarion.members.model import read_address
from clarion.members.oidc.flow import Finished, Identity, OidcClient, OidcProvider, ProviderRedirect
from clarion.members.oidc.problem import OidcProblem
from clarion.secret import Secret
from clarion.vault import Vault

ADA = read_address("ada@example.com")
REDIRECT = "https://clarion.example.com/v1/auth/oidc/callback"


@pytest.fixture
def client(issuer: str, vault: Vault, clock: ManualClock) -> OidcClient:
    return make_client(issuer, vault, clock)


def make_client(issuer: str, vault: Vault, clock: ManualClock, **fields: Any) -> OidcClient:
    given: dict[str, Any] = {"client_id": "clarion", "client_secret": Secret("a secret"), **fields}
    provider = OidcProvider(issuer=issuer, redirect_url=REDIRECT, **given)
    return OidcClient(provider, vault, clock)


async def sign_in(url: str, sub: str) -> dict[str, str]:
    """Sign in as a browser would; returns what the provider sends to the redirect address."""
    async with httpx.AsyncClient() as browser:
        answer = await browser.post(url, data={"sub": sub})
    assert answer.status_code == 302, answer.text
    place = urlsplit(answer.headers["location"])
    assert place._replace(query="").geturl() == REDIRECT
    return {name: values[0] for name, values in parse_qs(place.query).items()}


async def test_a_person_signs_in(client: OidcClient) -> None:
    attempt = await client.begin("/dashboard/team")
    answer = await sign_in(attempt.url, "ada")

    found = await client.finish(attempt.cookie, ProviderRedirect(state=answer["state"], code=answer["code"]))

    assert found == Finished(Identity(ADA, "Ada"), "/dashboard/team")


async def test_the_answer_to_another_attempt_is_refused(client: OidcClient) -> None:
    first, second = await client.begin(), await client.begin()
    answer = await sign_in(first.url, "ada")

    with pytest.raises(OidcProblem, match="another attempt"):
        await client.finish(second.cookie, ProviderRedirect(state=answer["state"], code=answer["code"]))


async def test_a_code_of_another_attempt_is_refused_by_its_verifier(client: OidcClient) -> None:
    first, second = await client.begin(), await client.begin()
    stolen, own = await sign_in(first.url, "ada"), await sign_in(second.url, "ada")

    with pytest.raises(OidcProblem):
        await client.finish(second.cookie, ProviderRedirect(state=own["state"], code=stolen["code"]))


async def test_a_code_works_once(client: OidcClient) -> None:
    attempt = await client.begin()
    answer = await sign_in(attempt.url, "ada")
    await client.finish(attempt.cookie, ProviderRedirect(state=answer["state"], code=answer["code"]))

    with pytest.raises(OidcProblem):
        await client.finish(attempt.cookie, ProviderRedirect(state=answer["state"], code=answer["code"]))


@pytest.mark.parametrize(
    ("sub", "words"),
    [
        ("eve", "not verified"),
        ("sam", "not verified"),
        ("bot", "no e-mail address"),
        ("una", "set CLARION_OIDC_TRUST_ADDRESSES"),
    ],
)
async def test_someone_without_a_verified_address_is_refused(client: OidcClient, sub: str, words: str) -> None:
    attempt = await client.begin()
    answer = await sign_in(attempt.url, sub)

    with pytest.raises(OidcProblem, match=words):
        await client.finish(attempt.cookie, ProviderRedirect(state=answer["state"], code=answer["code"]))


async def test_an_address_of_a_verified_domain_is_accepted(client: OidcClient) -> None:
    assert await finish(client, "max") == Identity(ADA, "Max")


async def test_a_provider_whose_addresses_are_trusted_need_not_verify_them_but_may_refuse_to(
    issuer: str, vault: Vault, clock: ManualClock
) -> None:
    client = make_client(issuer, vault, clock, trusts_addresses=True)

    assert await finish(client, "una") == Identity(ADA, ADA)
    for sub in ("eve", "sam"):
        with pytest.raises(OidcProblem, match="not verified"):
            await finish(client, sub)


async def finish(client: OidcClient, sub: str) -> Identity:
    attempt = await client.begin()
    answer = await sign_in(attempt.url, sub)
    return (await client.finish(attempt.cookie, ProviderRedirect(state=answer["state"], code=answer["code"]))).identity


async def test_an_attempt_ends_after_ten_minutes(client: OidcClient, clock: ManualClock) -> None:
    attempt = await client.begin()
    answer = await sign_in(attempt.url, "ada")
    clock.move(10 * MINUTE + 1)

    with pytest.raises(OidcProblem, match="took too long"):
        await client.finish(attempt.cookie, ProviderRedirect(state=answer["state"], code=answer["code"]))


async def test_a_forged_cookie_is_refused(client: OidcClient) -> None:
    with pytest.raises(OidcProblem, match="not known"):
        await client.finish("v1.k1.AAAA", ProviderRedirect(state="x", code="y"))


async def test_a_provider_that_cannot_be_reached_is_named(vault: Vault, clock: ManualClock) -> None:
    client = make_client("http://127.0.0.1:1", vault, clock)

    with pytest.raises(OidcProblem, match=r"127\.0\.0\.1:1"):
        await client.begin()
