"""Secret fields are typed so, and answers show them to those who may use them."""

import re
from typing import Any

import pytest
from msgspec import inspect

from clarion.http.description.schemas import list_inner, list_structs
from clarion.http.masking import find_secret_names, mask_url
from clarion.http.wire import SecretForm
from clarion.operations import OPERATIONS
from clarion.vocabulary import Role, Scope
from tests.members.support import SignIn
from tests.support import Api, MakeApi, Site

SHAPES = [shape for one in OPERATIONS for shape in (one.result, one.body_shape) if shape is not None]
SHOWN_ONCE = {
    "NewEndpointOut.secret": "the secret of a new endpoint",
    "EndpointSecretOut.secret": "its new secret",
    "MobileLinkOut.token": "of one use within five minutes",
    "SessionOut.token": "the token of a person's own session",
    "ImpactOut.confirmToken": "proves within 15 minutes that the impact of these very steps was looked at",
    **dict.fromkeys(
        (f"ConnectionAuthOut.{name}" for name in ("accessToken", "refreshToken", "refreshTokenExpiresAt")),
        "masked for everybody",
    ),
    "GrafanaOnCallAddress.authToken": "masked for everybody",
}
BY_PROVIDERS = "IntegrationCredentials"
"""Which credentials of integrations are secret is declared by each provider."""
IN_REQUESTS = re.compile(r".*(In|Patch|Query)$")


def test_the_names_of_secret_fields_are_those_that_are_typed_so() -> None:
    assert find_secret_names(SHAPES) == {
        "deviceTokens": SecretForm.TOKEN,
        "webhookUrl": SecretForm.URL,
        "directWebhookUrl": SecretForm.URL,
    }


def test_a_field_of_an_answer_that_is_called_like_a_secret_is_typed_so_or_known() -> None:
    typed = find_secret_names(SHAPES)
    suspicious = {
        f"{struct.cls.__name__}.{field.encode_name}"
        for struct in list_structs(one.result for one in OPERATIONS if one.result is not None)
        for field in struct.fields
        if re.search("token|secret|password|webhookUrl", field.encode_name, re.IGNORECASE)
        and field.encode_name not in typed
        and _is_text(field.type)
        and not IN_REQUESTS.match(struct.cls.__name__)
    }

    assert {name for name in suspicious if not name.startswith(("Credentials", "Integration"))} <= SHOWN_ONCE.keys()


def _is_text(info: inspect.Type) -> bool:
    return isinstance(info, inspect.StrType) or any(_is_text(one) for one in list_inner(info))


def test_events_of_streams_have_no_secret_fields_and_no_free_json() -> None:
    """They are sent as they are."""
    streams = [one.result for one in OPERATIONS if one.is_stream]

    assert streams
    assert find_secret_names(streams) == {}
    for struct in list_structs(streams):
        for field in struct.fields:
            assert not isinstance(field.type, inspect.AnyType), f"{struct.cls.__name__}.{field.encode_name}"


@pytest.mark.parametrize(
    ("scopes", "is_shown"),
    [
        ({Scope.MESSAGES_READ, Scope.SUBSCRIBERS_READ}, True),
        ({Scope.ALL}, True),
        ({Scope.MESSAGES_READ, Scope.EVENTS_READ, Scope.SUBSCRIBERS_WRITE}, False),
    ],
)
async def test_keys_that_do_not_read_people_see_their_credentials_masked(
    make_api: MakeApi, api: Api, scopes: set[Scope], is_shown: bool
) -> None:
    body: dict[str, Any] = {"providerId": "discord", "channel": "chat", "active": True}
    assert (await api.post("/v1/integrations", json=body)).status_code == 201
    hook = "https://discord.example.com/api/hooks/canary-4711"
    await api.post("/v2/subscribers", json={"subscriberId": "ada"})
    reader = await make_api(scopes=frozenset(scopes | {Scope.SUBSCRIBERS_WRITE}))

    changed = await reader.patch(
        "/v1/subscribers/ada/credentials", json={"providerId": "discord", "credentials": {"webhookUrl": hook}}
    )

    assert changed.status_code == 200, changed.text
    assert ("canary-4711" in changed.text) is is_shown
    assert "discord.example.com" in changed.text


@pytest.mark.parametrize("role", list(Role))
async def test_urls_of_webhook_endpoints_are_shown_to_those_who_change_them(
    make_browser: SignIn, make_api: MakeApi, api: Api, site: Site, role: Role
) -> None:
    url = "http://127.0.0.1:9/hooks/canary-path?token=canary-token"
    made = (await api.post("/v1/webhooks/endpoints", json={"url": url})).json()
    browser = await make_browser(role, site.development)
    shows = role in (Role.ADMIN, Role.OWNER)

    answers = {
        path: (await browser.get(path)).text
        for path in (
            "/v1/webhooks/endpoints",
            f"/v1/webhooks/endpoints/{made['_id']}",
            "/v1/search?q=canary",
            f"/v1/search?q={made['_id']}",
            "/v1/audit-log",
        )
    }

    assert ("canary" in answers["/v1/webhooks/endpoints"]) is shows
    assert ("canary" in answers[f"/v1/webhooks/endpoints/{made['_id']}"]) is shows
    assert ("canary-path" in answers["/v1/search?q=canary"]) is shows
    assert ("canary" in answers[f"/v1/search?q={made['_id']}"]) is shows
    assert "canary" not in answers["/v1/audit-log"]
    reader = await make_api(scopes=frozenset({Scope.WEBHOOKS_READ}))
    assert "canary" not in (await reader.get("/v1/webhooks/endpoints")).text


@pytest.mark.parametrize("url", ["https://user:pass@example.com:8443/a/b?c#d", "http://example.com"])
def test_a_masked_url_shows_its_host_alone(url: str) -> None:
    assert mask_url(url) in ("https://example.com/…", "http://example.com/…")
