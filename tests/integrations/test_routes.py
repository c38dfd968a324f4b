"""Integrations through HTTP, on both databases."""

import asyncio
from typing import Any

import pytest

from clarion.clock import ManualClock
from clarion.ids import id_text
from clarion.settings.model import Settings
from tests.integrations.support import (
    CONDITION,
    PATH,
    SENDGRID,
    TWILIO,
    find_in_app,
    list_integrations,
    make_integration,
)
from tests.support import Api, Site


async def refusal(api: Api, **fields: Any) -> dict[str, Any]:
    """The errors of a creation that is refused."""
    body = {"providerId": "sendgrid", "channel": "email", "credentials": SENDGRID, "active": True} | fields
    answer = await api.post(PATH, json={name: value for name, value in body.items() if value is not ...})
    assert answer.status_code == 422, answer.text
    errors: dict[str, Any] = answer.json()["errors"]
    return errors


async def test_a_created_integration_is_answered_and_listed_with_every_field(api: Api, site: Site) -> None:
    created = await make_integration(api, name="News", identifier="news", conditions=[CONDITION])

    assert created == {
        "_id": created["_id"],
        "_environmentId": id_text(site.development.id),
        "_organizationId": id_text(site.development.organization_id),
        "name": "News",
        "identifier": "news",
        "providerId": "sendgrid",
        "channel": "email",
        "credentials": SENDGRID,
        "active": True,
        "deleted": False,
        "primary": False,
        "priority": 1,
        "weight": 100,
        "conditions": [CONDITION],
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T00:00:00.000Z",
    }
    assert await list_integrations(api) == [created]


async def test_name_identifier_credentials_and_activity_have_defaults(api: Api) -> None:
    answer = await api.post(PATH, json={"providerId": "sendgrid", "channel": "email"})

    created = answer.json()
    assert answer.status_code == 201
    assert created["name"] == "SendGrid"
    assert created["identifier"].startswith("sendgrid-")
    assert (created["credentials"], created["conditions"]) == ({}, [])
    assert (created["active"], created["primary"], created["priority"]) == (False, False, 0)


async def test_two_integrations_of_one_provider_get_different_identifiers(api: Api) -> None:
    first, second = await make_integration(api), await make_integration(api)

    assert first["identifier"] != second["identifier"]


async def test_every_credential_of_the_contract_is_kept_and_those_that_nothing_reads_are_named(api: Api) -> None:
    credentials = {
        "user": "u",
        "host": "127.0.0.1",
        "port": "2525",
        "from": "a@example.com",
        "phoneNumberIdentification": "1",
        "secure": False,
        "requireTls": True,
        "ignoreTls": False,
        "hmac": True,
        "authenticateByToken": False,
        "tlsOptions": {"rejectUnauthorized": False, "ca": ["x"]},
    }

    created = await make_integration(api, providerId="nodemailer", credentials=credentials)

    assert created["credentials"] == credentials
    assert created["unusedCredentials"] == ["authenticateByToken", "hmac", "phoneNumberIdentification"]


async def test_a_credential_that_no_provider_knows_is_refused(api: Api) -> None:
    body = {"providerId": "sendgrid", "channel": "email", "credentials": {"apiKey": "k", "colour": "red"}}

    response = await api.post(PATH, json=body)

    assert (response.status_code, set(response.json()["errors"])) == (422, {"credentials.colour"})


async def test_credentials_are_kept_as_they_are_spelled(api: Api) -> None:
    braze = {"apiKey": "k", "apiURL": "https://rest.iad-01.braze.com", "appID": "a", "from": "a@example.com"}
    smtp = {"host": "127.0.0.1", "port": "25", "from": "a@example.com", "tlsOptions": '{"rejectUnauthorized": false}'}
    isend = {"apiToken": "t", "contentType": "plain"}

    for provider_id, channel, given in (
        ("braze", "email", braze),
        ("nodemailer", "email", smtp),
        ("isend-sms", "sms", isend),
    ):
        made = await make_integration(api, providerId=provider_id, channel=channel, credentials=given, active=True)
        assert (made["credentials"], made["active"]) == (given, True)
        assert "unusedCredentials" not in made


async def test_a_credential_in_another_spelling_is_unused_beside_its_own_name(api: Api) -> None:
    given = {"apiKey": "k", "baseUrl": "https://rest.iad-01.braze.com", "apiURL": "https://a.example", "appID": "a"}
    given |= {"from": "a@example.com"}

    made = await make_integration(api, providerId="braze", channel="email", credentials=given)

    assert made["unusedCredentials"] == ["apiURL"]


@pytest.mark.parametrize(
    ("provider_id", "channel", "given", "name"),
    [
        ("braze", "email", {"apiURL": "rest.iad-01.braze.com"}, "apiURL"),
        ("nodemailer", "email", {"tlsOptions": '{"ciphers": "SSLv3"}'}, "tlsOptions"),
        ("nodemailer", "email", {"tlsOptions": {"ciphers": "SSLv3"}}, "tlsOptions"),
        ("nodemailer", "email", {"tlsOptions": "[]"}, "tlsOptions"),
        ("isend-sms", "sms", {"contentType": "text/plain"}, "contentType"),
    ],
)
async def test_a_credential_that_cannot_be_honoured_is_named(
    api: Api, provider_id: str, channel: str, given: dict[str, Any], name: str
) -> None:
    found = await refusal(api, providerId=provider_id, channel=channel, credentials=given, active=True)

    assert f"credentials.{name}" in found


@pytest.mark.parametrize(
    ("provider_id", "channel", "credentials"),
    [
        ("slack", "chat", {"applicationId": "a", "clientId": "c", "secretKey": "s", "signingSecret": "x"}),
        ("msteams", "chat", {"clientId": "c", "secretKey": "s", "tenantId": "t"}),
        ("whatsapp-business", "chat", {"apiToken": "t", "phoneNumberIdentification": "1", "businessAccountId": "b"}),
        ("one-signal", "push", {"applicationId": "a", "apiKey": "k", "apiVersion": "externalId"}),
        ("chat-webhook", "chat", {"secretKey": "s"}),
    ],
)
async def test_credentials_of_chat_and_push_accounts_are_kept(
    api: Api, provider_id: str, channel: str, credentials: dict[str, str]
) -> None:
    body = {"providerId": provider_id, "channel": channel, "credentials": credentials, "active": True}
    answer = await api.post(PATH, json=body)

    assert answer.status_code == 201, answer.text
    assert answer.json()["credentials"] == credentials


async def test_the_kind_of_ids_at_onesignal_is_one_of_two(api: Api) -> None:
    credentials = {"applicationId": "a", "apiKey": "k", "apiVersion": "v2"}
    errors = await refusal(api, providerId="one-signal", channel="push", credentials=credentials)

    (message,) = errors["credentials.apiVersion"]["messages"]
    assert "playerModel" in message
    assert "externalId" in message


async def test_a_service_account_of_an_empty_object_activates_push(api: Api) -> None:
    made = await make_integration(api, providerId="fcm", channel="push", credentials={"serviceAccount": "{}"})

    assert (made["name"], made["primary"], made["priority"]) == ("Firebase Cloud Messaging", False, 0)


async def test_missing_and_wrong_fields_are_all_named(api: Api) -> None:
    answer = await api.post(PATH, json={"channel": "pigeon", "name": "", "identifier": "x" * 101, "active": "yes"})

    assert answer.status_code == 422
    assert set(answer.json()["errors"]) == {"providerId", "channel", "name", "identifier", "active"}


async def test_every_wrong_part_of_conditions_is_named(api: Api) -> None:
    condition = {
        "isNegated": "no",
        "type": "SET",
        "value": "XOR",
        "children": [{"field": 1, "value": 2, "operator": "IS", "on": "moon"}],
    }

    found = await refusal(api, conditions=[CONDITION, condition])

    paths = ("isNegated", "type", "value", "children.0.field", "children.0.value", "children.0.operator")
    assert set(found) == {f"conditions.1.{path}" for path in (*paths, "children.0.on")}


async def test_an_unknown_provider_is_refused(api: Api) -> None:
    found = await refusal(api, providerId="carrier-pigeon")

    assert found["providerId"]["value"] == "carrier-pigeon"


async def test_a_provider_of_another_channel_is_refused(api: Api) -> None:
    found = await refusal(api, channel="sms")

    assert found == {
        "channel": {"messages": ["must be email, which is the channel of SendGrid"], "value": "sms"},
    }


async def test_an_identifier_that_is_taken_is_refused_with_all_other_problems(api: Api) -> None:
    await make_integration(api, identifier="news")

    found = await refusal(api, identifier="news", credentials={"from": "nobody"})

    assert set(found) == {"identifier", "credentials.apiKey", "credentials.from"}


async def test_an_identifier_taken_in_another_environment_is_free_here(api: Api, other_api: Api) -> None:
    await make_integration(other_api, identifier="news")

    assert (await make_integration(api, identifier="news"))["identifier"] == "news"


async def test_a_second_in_app_integration_is_refused_and_possible_after_the_first_is_gone(api: Api) -> None:
    inbox = await find_in_app(api)

    found = await refusal(api, providerId="svc", channel="in_app", credentials={})
    await api.delete(f"{PATH}/{inbox['_id']}")
    again = await make_integration(api, providerId="svc", channel="in_app", credentials={"hmac": True})

    assert set(found) == {"channel"}
    assert (again["name"], again["primary"]) == ("In-App", False)


async def test_the_own_environment_may_be_named_and_no_other(api: Api, other_api: Api, site: Site) -> None:
    body = {"providerId": "discord", "channel": "chat"}

    own = await api.post(PATH, json=body | {"_environmentId": id_text(site.development.id)})
    other = await api.post(PATH, json=body | {"_environmentId": id_text(site.production.id)})
    malformed = await api.post(PATH, json=body | {"_environmentId": "development"})

    assert [own.status_code, other.status_code, malformed.status_code] == [201, 404, 422]
    assert await list_integrations(other_api, "chat") == []


async def test_only_active_integrations_are_listed_as_active(api: Api) -> None:
    active = await make_integration(api, identifier="on")
    await make_integration(api, identifier="off", active=False)

    listed = (await api.get(f"{PATH}/active")).json()

    assert [one["identifier"] for one in listed] == ["in-app", "on"]
    assert listed[1] == active


async def test_an_update_changes_what_is_given_and_keeps_the_rest(api: Api, clock: ManualClock) -> None:
    before = await make_integration(api, name="News", identifier="news")
    clock.move(1000)

    after = await api.put(f"{PATH}/{before['_id']}", json={"name": "Letters", "identifier": "letters"})

    assert after.status_code == 200
    changed = {"name": "Letters", "identifier": "letters", "updatedAt": "2026-01-01T00:00:01.000Z"}
    assert after.json() == before | changed
    assert await list_integrations(api) == [after.json()]


async def test_an_update_that_changes_nothing_moves_no_date(api: Api, clock: ManualClock) -> None:
    before = await make_integration(api, name="News")
    clock.move(1000)

    after = await api.put(f"{PATH}/{before['_id']}", json={"name": "News", "credentials": SENDGRID, "check": False})

    assert after.json() == before


async def test_an_update_replaces_credentials_whole(api: Api) -> None:
    made = await make_integration(api, credentials=SENDGRID | {"senderName": "News"})

    after = await api.put(f"{PATH}/{made['_id']}", json={"credentials": SENDGRID | {"apiKey": "SG.other"}})

    assert after.json()["credentials"] == SENDGRID | {"apiKey": "SG.other"}


@pytest.mark.parametrize(
    ("body", "bad"),
    [
        ({}, {"body"}),
        ({"colour": "red"}, {"body"}),
        ({"identifier": "taken"}, {"identifier"}),
        ({"name": "", "active": None}, {"name", "active"}),
        ({"credentials": {}}, {"credentials.apiKey", "credentials.from"}),
        ({"credentials": {}, "active": False, "identifier": "taken"}, {"identifier"}),
    ],
)
async def test_an_update_that_is_not_valid_names_every_bad_field(api: Api, body: dict[str, Any], bad: set[str]) -> None:
    made = await make_integration(api)
    await make_integration(api, identifier="taken")

    answer = await api.put(f"{PATH}/{made['_id']}", json=body)

    assert answer.status_code == 422
    assert set(answer.json()["errors"]) == bad


async def test_activation_needs_the_credentials_of_the_provider(api: Api) -> None:
    made = await make_integration(api, providerId="twilio", channel="sms", credentials={}, active=False)
    path = f"{PATH}/{made['_id']}"

    refused = await api.put(path, json={"active": True})
    accepted = await api.put(path, json={"active": True, "credentials": TWILIO})

    assert set(refused.json()["errors"]) == {"credentials.accountSid", "credentials.token", "credentials.from"}
    assert (accepted.json()["active"], accepted.json()["primary"]) == (True, True)


async def test_an_update_in_the_name_of_another_environment_is_not_found(api: Api, site: Site) -> None:
    made = await make_integration(api)

    answer = await api.put(f"{PATH}/{made['_id']}", json={"name": "x", "_environmentId": id_text(site.production.id)})

    assert answer.status_code == 404


async def test_deletion_answers_with_those_that_are_left_and_frees_the_identifier(api: Api) -> None:
    made = await make_integration(api, identifier="news")
    kept = await make_integration(api, identifier="kept", active=False)
    inbox = await find_in_app(api)

    deleted = await api.delete(f"{PATH}/{made['_id']}")
    again = await api.delete(f"{PATH}/{made['_id']}")
    new = await make_integration(api, identifier="news")

    assert (deleted.status_code, deleted.json()) == (200, [inbox, kept])
    assert again.status_code == 404
    assert new["_id"] != made["_id"]


@pytest.mark.parametrize("method", ["DELETE", "PUT", "POST"])
async def test_another_environments_unknown_and_malformed_integrations_are_not_found(
    api: Api, other_api: Api, method: str
) -> None:
    made = await make_integration(other_api, identifier="theirs")
    suffix = "/set-primary" if method == "POST" else ""

    for name in (made["_id"], "019a8a5e-7c00-7000-8000-000000000001", "not-an-id"):
        answer = await api.request(method, f"{PATH}/{name}{suffix}", json={"name": "mine"})
        assert answer.status_code == 404, answer.text
        assert answer.json()["message"] == f"Integration '{name}' does not exist in this environment"
    assert await list_integrations(other_api) == [made]
    assert await list_integrations(api) == []


async def test_of_concurrent_creations_of_one_identifier_one_succeeds(api: Api) -> None:
    body = {"providerId": "discord", "channel": "chat", "identifier": "once"}

    answers = await asyncio.gather(*(api.post(PATH, json=body) for _ in range(20)))

    refused = [one for one in answers if one.status_code == 422]
    assert sorted(one.status_code for one in answers) == [201] + [422] * 19
    assert all(set(one.json()["errors"]) == {"identifier"} for one in refused)
    assert len(await list_integrations(api, "chat")) == 1


class TestBuiltInNames:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return Settings(data_dir=settings.data_dir, builtin_name="acme")

    async def test_built_in_providers_are_spelled_with_the_configured_word(self, api: Api) -> None:
        made = await make_integration(api, providerId="acme-email", credentials={})
        refused = await refusal(api, providerId="svc-email", credentials={})

        assert made["providerId"] == "acme-email"
        assert set(refused) == {"providerId"}
        assert (await find_in_app(api))["providerId"] == "acme"
