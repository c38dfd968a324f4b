"""The list of providers: what a form for an integration needs to know."""

from typing import Any

from msgspec.structs import fields

from clarion.integrations.wire import IntegrationCredentials
from clarion.providers.registry import PROVIDERS
from tests.support import Api

PATH = "/v1/providers"


async def list_providers(api: Api) -> dict[str, dict[str, Any]]:
    response = await api.get(PATH)
    assert response.status_code == 200, response.text
    return {one["id"]: one for one in response.json()}


async def test_every_provider_is_listed_by_channel(api: Api) -> None:
    found = await list_providers(api)

    assert len(found) == len(PROVIDERS) > 70
    channels = [one["channel"] for one in found.values()]
    assert channels == sorted(channels)


async def test_every_credential_has_a_label_and_can_be_given_to_an_integration(api: Api) -> None:
    accepted = {one.encode_name for one in fields(IntegrationCredentials)}

    for provider in (await list_providers(api)).values():
        names = [one["name"] for one in provider["credentials"]]
        assert set(names) <= accepted, provider["id"]
        assert all(one["label"] for one in provider["credentials"])
        required = [one["required"] for one in provider["credentials"]]
        assert required == sorted(required, reverse=True)


async def test_a_form_knows_the_kinds_of_credentials_and_which_are_secret(api: Api) -> None:
    smtp = {one["name"]: one for one in (await list_providers(api))["nodemailer"]["credentials"]}

    kinds = {name: smtp[name]["kind"] for name in ("from", "host", "port", "password", "secure", "tlsOptions")}
    assert kinds == {
        "from": "email",
        "host": "text",
        "port": "port",
        "password": "secret",
        "secure": "switch",
        "tlsOptions": "json",
    }
    assert [name for name, one in smtp.items() if one["secret"]] == ["password", "secretKey"]
    assert smtp["secure"]["help"]


async def test_a_provider_says_what_it_honours_and_where_it_is_described(api: Api) -> None:
    found = (await list_providers(api))["resend"]

    assert "cc" in found["overrides"]["names"]
    assert found["overrides"]["passthrough"]
    assert found["attachments"]
    assert found["receipts"].startswith("signature")
    assert "Idempotency-Key" in found["idempotency"]
    assert found["documentation"].startswith("https://")
