"""Text messages of people: STOP and START change their preferences, and nothing else that they write does."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from clarion.clock import Millis
from clarion.providers.definition.provider import HttpProvider
from clarion.providers.definition.receipts import Callback, InboundText
from clarion.providers.registry import find_provider
from tests.engine.support import World, step
from tests.inbox.conftest import MakePerson, make_person
from tests.receipts.signing import Address, Signed, make_address, sign_messagebird, sign_twilio
from tests.support import Api

__all__ = ["make_person"]

PREFERENCES = "/v2/subscribers/ada/preferences"
NUMBER = "+4915112345678"


def incoming(url: str, text: str, sender: str = NUMBER, **more: str) -> Signed:
    fields = {"MessageSid": "SM7", "SmsStatus": "received", "From": sender, "To": "+15005550006", "Body": text}
    return sign_twilio(url, fields | more)


@pytest.fixture
async def address(api: Api) -> Address:
    await api.post("/v2/subscribers", json={"subscriberId": "ada", "phone": NUMBER})
    return await make_address(api, "twilio")


async def list_events(api: Api) -> list[dict[str, Any]]:
    endpoint = (await api.get("/v1/webhooks/endpoints")).json()[0]["_id"]
    payloads = [
        one["payload"] for one in (await api.get(f"/v1/webhooks/endpoints/{endpoint}/deliveries")).json()["data"]
    ]
    return [one["data"] for one in payloads if one["type"] == "preference.updated"]


async def test_stop_switches_sms_off_for_all_workflows_and_start_on_again(world: World, address: Address) -> None:
    api = world.api
    await world.make_workflow(step("sms", body="Hello"), step("email", subject="a", body="b"))
    await api.patch(PREFERENCES, json={"workflowId": "welcome", "channels": {"sms": True}})
    # No server listens on the port.
    await api.post("/v1/webhooks/endpoints", json={"url": "http://127.0.0.1:9/"})

    answers = [await address.post(incoming(address.url, " Stop. ")) for _ in range(2)]
    (off,) = (await api.get(PREFERENCES)).json()["workflows"]
    await world.trigger()
    await world.work()
    explained = (await api.get("/v1/notifications")).json()["data"][0]["_id"]
    explanation = (await api.get(f"/v1/notifications/{explained}/explain")).text
    for _ in range(2):
        await address.post(incoming(address.url, "START"))
    (on,) = (await api.get(PREFERENCES)).json()["workflows"]

    assert [one.status_code for one in answers] == [200, 200]
    assert off["channels"] == {"sms": False, "email": True}
    assert off["overrides"][0]["reason"] == "sms_keyword"
    assert "by a text message with a word such as STOP" in explanation
    assert on["channels"] == {"sms": True, "email": True}
    reasons = [(one["level"], one["channels"], one["reason"]) for one in await list_events(api)]
    assert sorted(reasons, key=str) == [
        ("global", {"sms": False}, "sms_keyword"),
        ("global", {"sms": True}, "sms_keyword"),
    ]


async def test_other_words_forged_requests_and_other_channels_change_nothing(world: World, address: Address) -> None:
    await world.make_workflow(step("sms", body="Hello"))
    for text in ("please stop calling me a hero", "Yes", "", "stop" * 20, "hello STOP"):
        assert (await address.post(incoming(address.url, text))).status_code == 200
    await address.post(incoming(address.url, "STOP", sender=f"whatsapp:{NUMBER}"))
    await address.post(incoming(address.url, "STOP", sender="+441"))
    forged = incoming(address.url, "STOP")
    refused = await address.post(Signed(body=forged.body, headers={**forged.headers, "X-Twilio-Signature": "x"}))

    (workflow,) = (await world.api.get(PREFERENCES)).json()["workflows"]
    assert refused.status_code == 401
    assert workflow["channels"] == {"sms": True}


async def test_a_number_that_nobody_has_is_suppressed_until_start(world: World, address: Address) -> None:
    await address.post(incoming(address.url, "STOP", sender="+442079460000"))
    (suppressed,) = (await world.api.get("/v1/suppressions")).json()["data"]
    await address.post(incoming(address.url, "JOIN", sender="+442079460000", OptOutType="START"))
    cleared = (await world.api.get("/v1/suppressions")).json()["data"]

    assert (suppressed["address"], suppressed["reason"]) == ("442079460000", "unsubscribed")
    assert cleared == []


async def test_stop_holds_for_other_spellings_and_people_who_come_later(world: World, address: Address) -> None:
    await world.make_workflow(step("sms", body="Hello"))
    await world.api.post("/v2/subscribers", json={"subscriberId": "bob", "phone": "+49 151 12345678"})

    await address.post(incoming(address.url, "STOP"))
    await world.api.post("/v2/subscribers", json={"subscriberId": "eve", "phone": NUMBER})
    for key in ("bob", "eve"):
        await world.trigger(key)
    await world.work()
    stopped = [str(one["jobs"][0]["executionDetails"]) for one in await world.events()]
    (suppressed,) = (await world.api.get("/v1/suppressions")).json()["data"]
    await address.post(incoming(address.url, "START"))

    assert (suppressed["address"], suppressed["reason"]) == (NUMBER[1:], "unsubscribed")
    assert ["unsubscribed" in one for one in stopped] == [True, True]
    assert (await world.api.get("/v1/suppressions")).json()["data"] == []


async def test_start_does_not_clear_what_another_reason_suppressed(world: World, address: Address) -> None:
    await world.api.post("/v1/suppressions", json={"channel": "sms", "address": NUMBER})

    await address.post(incoming(address.url, "STOP"))
    await address.post(incoming(address.url, "START"))

    (kept,) = (await world.api.get("/v1/suppressions")).json()["data"]
    assert kept["reason"] == "manual"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("", {"sms": True}),
        ("/welcome", {"sms": True}),
        ("/bulk", {"preferences": [{"workflowId": "welcome", "sms": True}]}),
    ],
)
async def test_people_who_switch_sms_on_in_the_inbox_get_it_again(
    world: World, address: Address, make_person: MakePerson, path: str, body: dict[str, Any]
) -> None:
    await world.make_workflow(step("sms", body="Hello"))
    person = await make_person("ada")
    await address.post(incoming(address.url, "STOP"))

    await person.patch("/v1/inbox/preferences", json={"email": True})
    await world.api.patch(PREFERENCES, json={"channels": {"sms": True}})
    kept = (await world.api.get("/v1/suppressions")).json()["data"]
    switched = await person.patch(f"/v1/inbox/preferences{path}", json=body)

    assert switched.status_code == 200
    assert [one["reason"] for one in kept] == ["unsubscribed"]
    assert (await world.api.get("/v1/suppressions")).json()["data"] == []


async def test_another_environment_is_not_concerned(address: Address, other_api: Api) -> None:
    await other_api.post("/v2/subscribers", json={"subscriberId": "ada", "phone": NUMBER})

    await address.post(incoming(address.url, "STOP"))

    assert (await other_api.get(PREFERENCES)).json()["global"]["channels"] == {}
    assert (await address.api.get(PREFERENCES)).json()["global"]["channels"] == {"sms": False}


FORMS: list[tuple[str, Any, InboundText]] = [
    ("twilio", {"From": "+49151", "Body": "Hi"}, InboundText(sender="+49151", text="Hi")),
    (
        "twilio",
        {"From": "+49151", "Body": "x", "OptOutType": "STOP"},
        InboundText(sender="+49151", text="x", wish=False),
    ),
    ("plivo", {"From": "49151", "Text": "Hi", "Type": "sms"}, InboundText(sender="49151", text="Hi")),
    (
        "plivo",
        {"From": "49151", "Text": "x", "MessageIntent": "optin"},
        InboundText(sender="49151", text="x", wish=True),
    ),
    ("nexmo", {"msisdn": "49151", "to": "1", "text": "Hi", "type": "text"}, InboundText(sender="49151", text="Hi")),
    (
        "messagebird",
        {
            "id": "1",
            "recipient": "31970",
            "originator": "31612",
            "body": "Hi",
            "createdDatetime": "2026-01-01T00:00:00Z",
        },
        InboundText(sender="31612", text="Hi"),
    ),
    ("forty-six-elks", {"direction": "incoming", "from": "+46", "message": "Hi"}, InboundText(sender="+46", text="Hi")),
]
DOCUMENTS: list[tuple[str, Any, InboundText]] = [
    ("messagebird", {"originator": "31612", "payload": "Hi"}, InboundText(sender="31612", text="Hi")),
    (
        "infobip-sms",
        {"results": [{"messageId": "1", "from": "385", "to": "4", "text": "Hi", "cleanText": "Hi"}]},
        InboundText(sender="385", text="Hi"),
    ),
    (
        "telnyx",
        {"data": {"event_type": "message.received", "payload": {"from": {"phone_number": "+18"}, "text": "Hi"}}},
        InboundText(sender="+18", text="Hi"),
    ),
]


@pytest.mark.parametrize(("provider_id", "content", "expected"), [*FORMS, *DOCUMENTS])
def test_providers_report_what_people_send(provider_id: str, content: Any, expected: InboundText) -> None:
    provider = find_provider(provider_id)
    assert isinstance(provider, HttpProvider)
    assert provider.receipts is not None
    is_form = (provider_id, content, expected) in FORMS
    body = (urlencode(content) if is_form else json.dumps(content)).encode()
    callback = Callback(method="POST", url="https://x.example", body=body, received_at=Millis(1))

    assert provider.receipts.inbound(callback) == [expected]
    assert provider.receipts.parse(callback) == []


async def test_stop_at_messagebird_counts_only_with_the_signature_of_the_account(world: World) -> None:
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada", "phone": NUMBER})
    address = await make_address(world.api, "messagebird")
    body = urlencode({"id": "1", "originator": NUMBER[1:], "body": "STOP"}).encode()

    forged = await address.post(Signed(body=body, headers={}))
    other_body = await address.post(Signed(body=body, headers=sign_messagebird(address.url, b"x", world.clock.now())))
    before = (await world.api.get(PREFERENCES)).json()["global"]["channels"]
    genuine = await address.post(Signed(body=body, headers=sign_messagebird(address.url, body, world.clock.now())))

    assert (forged.status_code, other_body.status_code, genuine.status_code) == (401, 401, 200)
    assert before == {}
    assert (await world.api.get(PREFERENCES)).json()["global"]["channels"] == {"sms": False}
