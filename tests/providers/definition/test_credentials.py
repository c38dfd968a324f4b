"""Formats of credentials, and reading them."""

from typing import Any

import pytest

from clarion.providers.definition.credentials import (
    Credentials,
    EmailCredentials,
    SenderCredentials,
    as_url,
    read_credentials,
)
from clarion.providers.definition.provider import Provider, find_credential_problems
from clarion.providers.registry import PROVIDERS
from clarion.secret import Secret
from clarion.vocabulary import Channel


class SecretCredentials(Credentials):
    api_key: Secret


class KeyCredentials(Credentials):
    api_key: str


def make_provider(credentials: type[Credentials] = Credentials) -> Provider:
    return Provider(id="post", name="Post", channel=Channel.CHAT, credentials=credentials)


def is_accepted(name: str, value: Any, provider: Provider | None = None) -> bool:
    return name not in find_credential_problems(provider or make_provider(), {name: value})


@pytest.mark.parametrize("port", ["1", "25", "587", "65535"])
def test_a_port_between_1_and_65535_is_accepted(port: str) -> None:
    assert is_accepted("port", port)


@pytest.mark.parametrize("port", ["0", "65536", "-1", "25.0", "٢٥", "smtp", "1" * 5000])
def test_an_invalid_port_is_refused(port: str) -> None:
    assert not is_accepted("port", port)


@pytest.mark.parametrize("host", ["smtp.example.com", "localhost", "mail_relay", "127.0.0.1", "::1", "example.com."])
def test_host_names_and_addresses_are_accepted(host: str) -> None:
    assert is_accepted("host", host)


@pytest.mark.parametrize(
    "host", ["https://example.com", "example.com:25", "-example.com", "a b", "a..b", "a\n", "x" * 300]
)
def test_an_invalid_host_is_refused(host: str) -> None:
    assert not is_accepted("host", host)


@pytest.mark.parametrize("name", ["baseUrl", "webhookUrl", "redirectUrl"])
@pytest.mark.parametrize("url", ["https://example.com", "http://127.0.0.1:8080/hook?x=1#y", "https://[::1]/"])
def test_http_urls_are_accepted(name: str, url: str) -> None:
    assert is_accepted(name, url)


@pytest.mark.parametrize(
    "url",
    ["example.com", "ftp://example.com", "https://", "https://a b", "https://x:99999", "https://[::1", "javascript:1"],
)
def test_other_urls_are_refused(url: str) -> None:
    assert not is_accepted("webhookUrl", url)


@pytest.mark.parametrize("provider_id", ["webex-messaging", "msteams"])
@pytest.mark.parametrize("url", ["https://[", "https://webexapis.com/v1\n", "https://smba.trafficmanager.net/te\tams"])
def test_an_address_of_a_vendor_is_a_url(provider_id: str, url: str) -> None:
    problems = find_credential_problems(PROVIDERS[provider_id], {"baseUrl": url})

    assert "must be an https URL" in problems["baseUrl"]


@pytest.mark.parametrize("text", ["{}", '{"project_id": "x"}'])
def test_a_service_account_is_a_json_object(text: str) -> None:
    assert is_accepted("serviceAccount", text)


@pytest.mark.parametrize("text", ["[]", "x", '"{}"', "{", "[" * 20_000, '{"n": 1e999}'])
def test_a_service_account_that_is_not_a_json_object_is_refused(text: str) -> None:
    assert not is_accepted("serviceAccount", text)


def test_the_sender_of_email_is_an_address_and_that_of_sms_any_text() -> None:
    assert not is_accepted("from", "Acme", make_provider(EmailCredentials))
    assert is_accepted("from", "news@example.com", make_provider(EmailCredentials))
    assert is_accepted("from", "Acme", make_provider(SenderCredentials))


def test_a_provider_can_have_its_own_format_rule() -> None:
    assert is_accepted("baseUrl", "xyz.api.infobip.com", PROVIDERS["infobip-sms"])
    assert not is_accepted("baseUrl", "xyz.example.com", PROVIDERS["mobishastra"])


@pytest.mark.parametrize("credentials", [{}, {"apiKey": ""}, {"apiKey": " \n"}])
def test_a_required_credential_that_is_missing_or_blank_is_named(credentials: dict[str, Any]) -> None:
    problems = find_credential_problems(make_provider(KeyCredentials), credentials)

    assert problems == {"apiKey": "is required to activate Post"}


def test_all_problems_are_reported() -> None:
    problems = find_credential_problems(PROVIDERS["nodemailer"], {"host": "a b", "from": "nobody", "secure": True})

    assert set(problems) == {"host", "port", "from"}


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("xyz.example.com", "https://xyz.example.com"),
        ("xyz.example.com/", "https://xyz.example.com"),
        ("http://xyz.example.com/", "http://xyz.example.com"),
    ],
)
def test_a_bare_host_becomes_an_https_url(text: str, url: str) -> None:
    assert as_url(text) == url


def test_white_space_around_a_pasted_secret_is_dropped() -> None:
    assert read_credentials(SecretCredentials, {"apiKey": " canary\n"}).api_key == Secret("canary")
