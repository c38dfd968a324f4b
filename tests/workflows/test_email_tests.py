"""Test e-mails: what is sent to whom, and who may have it sent."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from clarion.clock import MINUTE, ManualClock
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vocabulary import Role, Scope
from clarion.workflows.email_tests import OF_CALLER
from tests.integrations.support import CONDITION, make_integration
from tests.members.conftest import make_browser, open_browser, password_hash
from tests.members.support import SignIn
from tests.providers.contract.golden import make_gateway
from tests.providers.contract.vendor import Reply, Vendor, play
from tests.support import Api, MakeApi, Site

__all__ = ["make_browser", "open_browser", "password_hash"]

PATH = "/v1/workflows/steps/test-email"
OF_LAYOUT = "/v2/layouts/letter/test-email"
MAIL = {"subject": "Order {{payload.order}}", "body": "<p>Hello {{subscriber.firstName}}</p>", "editorType": "html"}
SAMPLE = {"payload": {"order": 42}, "subscriber": {"firstName": "<Ada>"}}


@pytest.fixture
async def vendor() -> AsyncIterator[Vendor]:
    async with play(lambda _: Reply(status=202, headers={"X-Message-Id": "vendor-7"})) as playing:
        yield playing


@pytest.fixture
async def gateway(vendor: Vendor) -> AsyncIterator[ProviderGateway]:
    async with make_gateway(vendor) as entered:
        yield entered


def body(**fields: Any) -> dict[str, Any]:
    return {"controlValues": MAIL, "previewPayload": SAMPLE, "to": "ada@example.org"} | fields


async def refusal(api: Any, **fields: Any) -> dict[str, Any]:
    answer = await api.post(PATH, json=body(**fields))
    assert answer.status_code == 422, answer.text
    errors: dict[str, Any] = answer.json()["errors"]
    return errors


def sent(vendor: Vendor) -> dict[str, Any]:
    (request,) = vendor.requests
    mail: dict[str, Any] = json.loads(request.body)
    return mail


async def test_a_step_is_sent_as_it_is_in_the_editor_and_marked(api: Api, vendor: Vendor) -> None:
    made = await make_integration(api)

    answer = await api.post(PATH, json=body())

    assert answer.status_code == 200, answer.text
    assert answer.json()["integration"] == made["identifier"]
    assert (answer.json()["to"], answer.json()["result"]["providerMessageId"]) == ("ada@example.org", "vendor-7")
    mail = sent(vendor)
    assert mail["personalizations"][0]["to"] == [{"email": "ada@example.org"}]
    assert mail.get("subject", mail["personalizations"][0].get("subject")) == "[Test] Order 42"
    assert "Hello &lt;Ada&gt;" in str(mail["content"])


async def test_a_layout_is_sent_as_it_is_in_the_editor_around_a_box(api: Api, vendor: Vendor) -> None:
    await make_integration(api)
    await api.post("/v2/layouts", json={"layoutId": "letter", "name": "Letter"})
    html = "<html><body><h1>{{subscriber.firstName}}</h1>{{content}}<a href='{{unsubscribe_url}}'>x</a></body></html>"
    values = {"email": {"body": html, "editorType": "html"}}
    wanted = {
        "controlValues": values,
        "previewPayload": {"subscriber": {"firstName": "<Ada>"}},
        "to": "ada@example.org",
    }

    answer = await api.post(OF_LAYOUT, json=wanted)

    assert answer.status_code == 200, answer.text
    mail = sent(vendor)
    assert mail.get("subject", mail["personalizations"][0].get("subject")) == "[Test] Letter"
    assert "&lt;Ada&gt;" in str(mail["content"])
    assert "Dynamic placeholder content" in str(mail["content"])
    assert "List-Unsubscribe" not in json.dumps(mail)
    stored = (await api.get("/v2/layouts/letter")).json()["controls"]["values"]["email"]
    assert stored["body"] != html
    (entry, *_) = (await api.get("/v1/audit-log?action=integration.testEmail")).json()["data"]
    assert "ada@example.org" not in str(entry)


async def test_a_layout_that_cannot_be_rendered_or_of_another_environment_is_not_sent(
    api: Api, other_api: Api, vendor: Vendor, make_api: MakeApi
) -> None:
    await make_integration(api)
    await api.post("/v2/layouts", json={"layoutId": "letter", "name": "Letter"})
    broken = {"email": {"body": "<html><body>{{content}</body></html>", "editorType": "html"}}
    writing = await make_api(scopes=frozenset({Scope.WORKFLOWS_WRITE}))

    refused = await api.post(OF_LAYOUT, json={"controlValues": broken, "to": "ada@example.org"})

    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["controlValues.email.body"])
    assert (await other_api.post(OF_LAYOUT, json={"to": "ada@example.org"})).status_code == 404
    assert (await writing.post(OF_LAYOUT, json={"to": "ada@example.org"})).status_code == 403
    assert vendor.requests == []


async def test_nobody_else_gets_it_and_nothing_is_kept_of_it(api: Api, vendor: Vendor) -> None:
    await make_integration(api)
    controls = MAIL | {
        "cc": "cc@example.org",
        "bcc": ["bcc@example.org"],
        "body": "<p><a href='{{unsubscribe_url}}'>Leave</a></p>",
        "headers": {"X-Order": "1"},
        "replyTo": "help@example.org",
    }

    await api.post(PATH, json=body(controlValues=controls))

    text = json.dumps(sent(vendor))
    assert "cc@example.org" not in text
    assert "List-Unsubscribe" not in text
    assert "/t/c/" not in text
    assert "help@example.org" in text
    assert "X-Order" in text
    assert (await api.get("/v1/messages")).json()["data"] == []
    assert (await api.get("/v1/runs")).json()["data"] == []


async def test_secret_variables_are_masked(api: Api, vendor: Vendor) -> None:
    await make_integration(api)
    environment = (await api.get("/v1/environments/me")).json()["_id"]
    values = [{"_environmentId": environment, "value": "s3cret"}]
    variable = {"key": "TOKEN", "isSecret": True, "values": values}
    made = await api.post("/v1/environment-variables", json=variable)
    assert made.is_success, made.text

    await api.post(PATH, json=body(controlValues=MAIL | {"body": "<p>{{env.TOKEN}}</p>"}))

    assert "s3cret" not in json.dumps(sent(vendor))


async def test_a_member_gets_it_at_their_own_address_and_no_other(
    api: Api, vendor: Vendor, make_browser: SignIn, site: Site
) -> None:
    await make_integration(api)
    author = await make_browser(Role.AUTHOR, site.development)

    answer = await author.post(PATH, json=body(to=None))

    assert answer.status_code == 200, answer.text
    assert answer.json()["to"] == author.member.email
    assert sent(vendor)["personalizations"][0]["to"] == [{"email": author.member.email}]
    assert list(await refusal(author, to="else@example.org")) == ["to"]
    assert (await author.post(PATH, json=body(to=author.member.email.upper()))).status_code == 200


async def test_who_may_not_edit_or_send_is_refused(
    api: Api, vendor: Vendor, make_browser: SignIn, make_api: MakeApi, site: Site
) -> None:
    await make_integration(api)
    viewer = await make_browser(Role.VIEWER, site.development)
    editing = await make_api(scopes=frozenset({Scope.WORKFLOWS_WRITE}))
    triggering = await make_api(scopes=frozenset({Scope.EVENTS_WRITE}))

    answers = [await one.post(PATH, json=body()) for one in (viewer, editing, triggering)]

    assert [one.status_code for one in answers] == [403, 403, 403]
    assert vendor.requests == []


async def test_what_keeps_it_from_being_sent_is_named(api: Api, other_api: Api, vendor: Vendor) -> None:
    foreign = await make_integration(other_api)
    assert "add one first" in str((await refusal(api))["integrationId"])
    await make_integration(api, active=False, identifier="off")

    assert list(await refusal(api, integrationId="off")) == ["integrationId"]
    assert list(await refusal(api, integrationId=foreign["_id"])) == ["integrationId"]
    assert list(await refusal(api, to=None)) == ["to"]
    await make_integration(api)
    assert list(await refusal(api, controlValues=MAIL | {"body": "{{ broken"})) == ["controlValues.body"]
    assert list(await refusal(api, controlValues=MAIL | {"subject": ""})) == ["controlValues.subject"]
    assert list(await refusal(api, controlValues=MAIL | {"replyTo": "nobody"})) == ["controlValues.replyTo"]
    assert vendor.requests == []


async def test_a_suppressed_address_gets_nothing(api: Api, vendor: Vendor) -> None:
    await make_integration(api)
    made = await api.post("/v1/suppressions", json={"channel": "email", "address": "ada@example.org"})
    assert made.is_success, made.text

    assert "manual" in str((await refusal(api, to="Ada@Example.org"))["to"])
    assert vendor.requests == []


async def test_the_reason_of_a_suppression_is_for_those_who_read_messages(
    api: Api, vendor: Vendor, make_api: MakeApi
) -> None:
    await make_integration(api)
    await api.post("/v1/suppressions", json={"channel": "email", "address": "ada@example.org"})
    testing = await make_api(scopes=frozenset({Scope.WORKFLOWS_WRITE, Scope.EVENTS_WRITE}))

    assert "manual" not in str((await refusal(testing))["to"])


async def test_asking_for_suppressed_addresses_is_counted(api: Api, vendor: Vendor) -> None:
    await make_integration(api)
    await api.post("/v1/suppressions", json={"channel": "email", "address": "ada@example.org"})
    for _ in range(OF_CALLER.burst):
        await refusal(api)

    assert (await api.post(PATH, json=body())).status_code == 429


async def test_credentials_have_the_values_of_variables(api: Api, vendor: Vendor) -> None:
    environment = (await api.get("/v1/environments/me")).json()["_id"]
    values = [{"_environmentId": environment, "value": "SG.of-the-variable"}]
    made = await api.post(
        "/v1/environment-variables", json={"key": "SENDGRID", "forCredentials": True, "values": values}
    )
    assert made.is_success, made.text
    credentials = {"apiKey": "{{env.SENDGRID}}", "from": "a@example.org", "senderName": "A"}
    await make_integration(api, identifier="named", credentials=credentials)

    answers = [await api.post(PATH, json=body()), await api.post(PATH, json=body(integrationId="named"))]

    assert [one.json()["result"]["success"] for one in answers] == [True, True]
    assert [one.headers["authorization"] for one in vendor.requests] == ["Bearer SG.of-the-variable"] * 2
    assert "SG.of-the-variable" not in "".join(one.text for one in answers)


async def test_the_first_integration_whose_conditions_hold_is_taken_or_the_named_one(api: Api, vendor: Vendor) -> None:
    for_pros = await make_integration(api, conditions=[CONDITION], identifier="pros")
    plain = await make_integration(api, identifier="plain")

    async def chosen(**fields: Any) -> str:
        return str((await api.post(PATH, json=body(**fields))).json()["integration"])

    assert await chosen() == "plain"
    assert await chosen(integrationId="pros") == "pros"
    assert await chosen(integrationId=for_pros["_id"]) == "pros"
    await api.delete(f"/v1/integrations/{plain['_id']}")
    assert await chosen(previewPayload=SAMPLE | {"payload": {"plan": "pro"}}) == "pros"


async def test_a_refusal_is_told_in_the_words_of_the_provider(api: Api, vendor: Vendor) -> None:
    await make_integration(api)
    vendor.answers = lambda _: Reply(status=400, body={"errors": [{"message": "The sender is not verified"}]})

    result = (await api.post(PATH, json=body())).json()["result"]

    assert result["success"] is False
    assert "The sender is not verified" in result["error"]["message"]


async def test_more_than_a_few_are_refused_until_later(api: Api, vendor: Vendor, clock: ManualClock) -> None:
    await make_integration(api)
    for _ in range(OF_CALLER.burst):
        assert (await api.post(PATH, json=body())).status_code == 200

    refused = await api.post(PATH, json=body())

    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "30")
    assert len(vendor.requests) == OF_CALLER.burst
    clock.move(MINUTE)
    assert (await api.post(PATH, json=body())).status_code == 200


async def test_the_log_says_who_had_it_sent_through_what(api: Api, vendor: Vendor) -> None:
    made = await make_integration(api)

    await api.post(PATH, json=body())

    entries = (await api.get("/v1/audit-log", params={"action": "integration.testEmail"})).json()["data"]
    assert [(one["target"]["id"], one["after"]) for one in entries] == [(made["_id"], {"to": "a***@example.org"})]
