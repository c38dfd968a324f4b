"""Reports of providers: accepted if signed, refused if not, with the response that the provider expects."""

from dataclasses import replace
from typing import Any

import httpx
import pytest

from clarion.app import Application, build_application
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.ids import find_id
from clarion.settings.model import Settings
from clarion.vault import Vault
from clarion.vocabulary import Channel
from tests.providers.contract.vendor import Vendor
from tests.receipts.signing import (
    CREDENTIALS,
    Address,
    Signed,
    mailgun,
    make_address,
    sendgrid,
    sendgrid_event,
    ses_bounce,
    sns,
    twilio,
)
from tests.records import MadeMessage, make_message
from tests.support import Api

MISSING = "01a1df28-0000-7000-8000-000000000000"


async def make_mail(database: Database, api: Api, **columns: Any) -> MadeMessage:
    columns = {"email": "ada@example.org"} | columns
    return await make_message(database, api.environment, channel=Channel.EMAIL, **columns)


async def message(api: Api) -> dict[str, Any]:
    (found,) = (await api.get("/v1/messages")).json()["data"]
    assert isinstance(found, dict)
    return found


def unsigned(report: Signed) -> Signed:
    return Signed(body=report.body)


async def test_sendgrid_reports_with_a_signature_by_its_key(api: Api, database: Database) -> None:
    address, mail = await make_address(api, "sendgrid"), await make_mail(database, api)

    response = await address.post(sendgrid(sendgrid_event("delivered", mail.text, email="ada@example.org")))

    assert (response.status_code, response.content) == (200, b"")
    assert (await message(api))["delivery"] == {"delivered": "2026-01-01T00:00:00.000Z"}


async def test_mailgun_reports_with_a_signature_in_the_body(api: Api, database: Database) -> None:
    address, mail = await make_address(api, "mailgun"), await make_mail(database, api)

    response = await address.post(
        mailgun("failed", mail.text, severity="permanent", **{"delivery-status": {"message": "No such user"}})
    )

    found = await message(api)
    assert response.status_code == 200
    assert (found["status"], found["errorId"], found["errorText"]) == ("error", "bounced", "No such user")


async def test_twilio_signs_the_address_that_it_called(api: Api, database: Database) -> None:
    address = await make_address(api, "twilio")
    ids: dict[str, Any] = {"integration_id": find_id(address.integration_id), "provider_message_id": "SM1"}
    await make_message(database, api.environment, channel=Channel.SMS, phone="+442079460000", **ids)
    outside = address.url.replace("http://clarion.test", "https://notify.example.com")
    report = twilio(outside, "delivered", "SM1")
    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "notify.example.com"}

    refused = await address.post(report)
    taken = await address.post(Signed(body=report.body, headers={**report.headers, **forwarded}))

    assert (refused.status_code, taken.status_code) == (401, 200)
    assert list((await message(api))["delivery"]) == ["delivered"]


async def test_postmark_signs_nothing_and_is_known_by_the_token_in_its_address(api: Api, database: Database) -> None:
    address, mail = await make_address(api, "postmark"), await make_mail(database, api)
    event = {"RecordType": "Delivery", "MessageID": "x", "Metadata": {"clarion_message_id": mail.text}}

    without = await api.post(address.path, json=event)
    wrong = await api.post(f"{address.path}?token=canary", json=event)
    another = await api.post(
        address.path + "?" + (await make_address(api, "postmark")).url.partition("?")[2], json=event
    )
    assert "delivery" not in await message(api)
    right = await api.post(address.url, json=event)

    assert [one.status_code for one in (without, wrong, another, right)] == [401, 401, 401, 200]
    assert list((await message(api))["delivery"]) == ["delivered"]


async def test_amazon_signs_by_a_certificate_that_is_fetched(api: Api, database: Database, vendor: Vendor) -> None:
    address, mail = await make_address(api, "ses"), await make_mail(database, api)
    report = ses_bounce(mail.text, ["ada@example.org"])
    forged = Signed(body=report.body.replace(b"user unknown", b"user  known "), headers=report.headers)

    refused, taken = await address.post(forged), await address.post(report)

    assert (refused.status_code, taken.status_code) == (401, 200)
    assert (await message(api))["errorText"] == "550 user unknown"
    assert {one.url for one in vendor.requests} == {
        f"https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-{'0af3' * 8}.pem"
    }


async def test_another_customer_of_amazon_lacks_the_token(api: Api, database: Database, vendor: Vendor) -> None:
    address, mail = await make_address(api, "ses"), await make_mail(database, api)

    response = await address.post(ses_bounce(mail.text, ["ada@example.org"]), url=address.path)

    assert response.status_code == 401
    assert vendor.requests == []
    assert "delivery" not in await message(api)


async def test_a_subscription_of_amazon_sns_is_confirmed(api: Api, vendor: Vendor) -> None:
    address = await make_address(api, "ses")
    confirm = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=t"

    response = await address.post(
        sns(Type="SubscriptionConfirmation", Message="Confirm", SubscribeURL=confirm, Token="t")
    )

    assert response.status_code == 200
    assert vendor.requests[-1].url == confirm


async def test_the_account_of_the_first_topic_of_amazon_is_the_only_one_that_is_heard(
    api: Api, database: Database, vendor: Vendor
) -> None:
    address, mail = await make_address(api, "ses"), await make_mail(database, api)
    confirm = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=t"
    request = {"Type": "SubscriptionConfirmation", "Message": "Confirm", "SubscribeURL": confirm, "Token": "t"}
    assert (await address.post(sns(**request))).status_code == 200
    asked = len(vendor.requests)

    stranger = await address.post(sns(**request, TopicArn="arn:aws:sns:eu-west-1:2:ses"))
    assert (stranger.status_code, len(vendor.requests)) == (401, asked)
    assert "arn:aws:sns:eu-west-1:1" in stranger.text
    assert (await address.post(sns(**request, TopicArn="arn:aws:sns:eu-west-1:1:complaints"))).status_code == 200
    assert (await address.post(ses_bounce(mail.text, ["ada@example.org"]))).status_code == 200

    path = f"/v1/integrations/{address.integration_id}"
    assert (await api.put(path, json={"name": "Other"})).is_success
    assert (await address.post(sns(**request, TopicArn="arn:aws:sns:eu-west-1:2:ses"))).status_code == 401
    assert (await api.put(path, json={"credentials": dict(CREDENTIALS["ses"])})).is_success
    assert (await address.post(sns(**request, TopicArn="arn:aws:sns:eu-west-1:2:ses"))).status_code == 200
    assert (await address.post(sns(**request))).status_code == 401


async def test_a_topic_that_nobody_signed_for_is_not_remembered(api: Api) -> None:
    address = await make_address(api, "ses")
    real = sns(Type="Notification", Message="Hello")
    forged = Signed(body=real.body.replace(b"eu-west-1:1:ses", b"eu-west-1:2:ses"))

    assert (await address.post(forged)).status_code == 401
    assert (await address.post(real)).status_code == 200


@pytest.mark.parametrize("topic", ["", "ses", "arn:aws:sns:eu-west-1:1:", "arn:aws:s3:eu-west-1:1:ses"])
async def test_a_notification_without_a_topic_is_refused(api: Api, topic: str) -> None:
    address = await make_address(api, "ses")

    assert (await address.post(sns(Type="Notification", Message="Hello", TopicArn=topic))).status_code == 400


async def test_a_certificate_that_cannot_be_fetched_is_a_reason_to_come_again(api: Api, vendor: Vendor) -> None:
    address = await make_address(api, "ses")
    vendor.answers = lambda _: None

    response = await address.post(ses_bounce(MISSING, ["ada@example.org"]))

    assert response.status_code == 503


async def test_challenges_are_answered_as_the_provider_wants_it(api: Api) -> None:
    meta, mandrill = await make_address(api, "whatsapp-business"), await make_address(api, "mandrill")
    asked = {"hub.mode": "subscribe", "hub.challenge": "1158201444", "hub.verify_token": "canary-verify-token"}

    echoed = await api.get(meta.path, params=asked)
    refused = await api.get(meta.path, params=asked | {"hub.verify_token": "canary"})
    probed = await api.head(mandrill.path)

    assert (echoed.status_code, echoed.text, echoed.headers["content-type"]) == (200, "1158201444", "text/plain")
    assert (refused.status_code, refused.text) == (403, "")
    assert probed.status_code == 200


async def test_a_report_may_be_a_query(api: Api, database: Database) -> None:
    address = await make_address(api, "kannel")
    text = await make_message(database, api.environment, channel=Channel.SMS, phone="+442079460000")

    response = await api.get(f"{address.url}&id={text.text}&type=1&text=done")

    token = address.url.rpartition("=")[2]
    event = (await api.get("/v1/notifications")).json()["data"][0]
    assert response.status_code == 200
    assert list((await message(api))["delivery"]) == ["delivered"]
    assert "done" in str(event)
    assert token not in str(event)


@pytest.mark.parametrize("change", ["signature", "body", "timestamp"])
async def test_forged_reports_change_nothing(api: Api, database: Database, change: str) -> None:
    address, mail = await make_address(api, "sendgrid"), await make_mail(database, api)
    report = sendgrid(sendgrid_event("bounce", mail.text, type="bounce", email="ada@example.org"))
    before = [(await message(api)), (await api.get("/v1/notifications")).json()]
    headers = dict(report.headers)
    if change == "signature":
        headers = {}
    if change == "timestamp":
        headers["X-Twilio-Email-Event-Webhook-Timestamp"] = "1767225601"
    body = report.body.replace(b"bounce", b"bonuce") if change == "body" else report.body

    response = await address.post(Signed(body=body, headers=headers))

    assert response.status_code == 401
    assert [(await message(api)), (await api.get("/v1/notifications")).json()] == before
    assert (await api.get("/v1/suppressions")).json()["data"] == []


async def test_a_report_that_is_signed_but_no_report_is_malformed(api: Api) -> None:
    address = await make_address(api, "postmark")

    assert (await api.post(address.url, content=b"no json")).status_code == 400


async def test_reports_cannot_be_checked_without_credentials(api: Api) -> None:
    made = await api.post("/v1/integrations", json={"providerId": "sendgrid", "channel": "email"})
    found = await api.get(f"/v1/integrations/{made.json()['_id']}/receipts-address")

    response = await api.post(found.json()["url"], json=[])

    assert response.status_code == 400


async def test_unknown_integrations_cannot_be_distinguished(api: Api, other_api: Api) -> None:
    theirs = await make_address(other_api, "postmark")
    silent = await make_address(api, "fcm")
    mine = (await api.get("/v1/environments/me")).json()["_id"]
    root = "/v2/inbound-webhooks/delivery-providers"
    ids = [
        (mine, theirs.integration_id),
        (mine, silent.integration_id),
        (mine, MISSING),
        (MISSING, theirs.integration_id),
        ("no-id", "no-id"),
    ]

    answers = [await api.post(f"{root}/{one}/{two}?token=x", json={}) for one, two in ids]

    assert {one.status_code for one in answers} == {404}
    messages = {one.json()["message"].replace(two, "ID") for one, (_, two) in zip(answers, ids, strict=True)}
    assert messages == {"Integration 'ID' does not exist in this environment"}


async def test_a_deleted_integration_reports_no_more(api: Api) -> None:
    address = await make_address(api, "postmark")
    await api.delete(f"/v1/integrations/{address.integration_id}")

    assert (await api.post(address.url, json={})).status_code == 404


async def test_messages_of_other_environments_and_integrations_are_out_of_reach(
    api: Api, other_api: Api, database: Database
) -> None:
    address, another = await make_address(api, "sendgrid"), await make_address(api, "sendgrid")
    theirs = await make_mail(database, other_api)
    elsewhere: dict[str, Any] = {
        "integration_id": find_id(another.integration_id),
        "provider_message_id": "14c5d75ce93",
    }
    mine = await make_mail(database, api, **elsewhere)

    response = await address.post(
        sendgrid(
            sendgrid_event("delivered", theirs.text, number=1),
            sendgrid_event("delivered", "", number=2, sg_message_id="14c5d75ce93.dfd"),
            sendgrid_event("delivered", mine.text, number=3),
        )
    )

    assert response.status_code == 200
    assert "delivery" not in await message(api)
    assert "delivery" not in await message(other_api)


async def test_a_body_of_more_than_a_megabyte_is_too_large(api: Api) -> None:
    address = await make_address(api, "sendgrid")

    assert (await api.post(address.url, content=b"[" + b" " * 1024 * 1024)).status_code == 413


async def test_the_address_of_a_provider_that_reports_nothing_is_not_found(api: Api) -> None:
    silent = await make_address(api, "fcm")

    response = await api.get(f"/v1/integrations/{silent.integration_id}/receipts-address")

    assert response.status_code == 404


async def test_the_address_says_what_proves_reports(api: Api) -> None:
    signed, known = await make_address(api, "sendgrid"), await make_address(api, "postmark")

    async def proof(address: Address) -> str:
        found: httpx.Response = await api.get(f"/v1/integrations/{address.integration_id}/receipts-address")
        return str(found.json()["signedWith"])

    assert (await proof(signed), await proof(known)) == ("signature, key in `secretKey`", "")


async def test_the_address_is_the_one_that_the_installation_is_reached_at(
    api: Api, database: Database, application: Application, settings: Settings, vault: Vault, clock: ManualClock
) -> None:
    public = replace(settings, public_url="https://notify.example.com/clarion/")
    gateway = application.services.gateway
    reached = build_application(public, database, vault, gateway, clock=clock)
    address = await make_address(api, "twilio")
    transport, headers = httpx.ASGITransport(app=reached.asgi), {"Authorization": f"ApiKey {api.key}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://10.0.0.1", headers=headers) as inside:
        url = (await inside.get(f"/v1/integrations/{address.integration_id}/receipts-address")).json()["url"]
        report = twilio(url, "delivered", "SM1")
        target = url.removeprefix("https://notify.example.com/clarion")
        response = await inside.post(target, content=report.body, headers=dict(report.headers))

    assert url.startswith("https://notify.example.com/clarion/v2/inbound-webhooks/delivery-providers/")
    assert response.status_code == 200
