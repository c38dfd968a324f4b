"""Replies, from the mail that asks for them to the event that tells of them."""

import json
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from clarion.app import Application
from clarion.ids import id_text
from clarion.monitoring.metrics import ReplyOutcome
from clarion.replies.actions import MAX_PER_MESSAGE
from tests.engine.providers import ADA, account
from tests.engine.support import World, details, step
from tests.receipts.signing import CREDENTIALS, sns
from tests.support import Api

DOMAIN = "in.example.com"
RAW = "From: Ada <ada@example.com>\r\nTo: {to}\r\nSubject: Re: Hi\r\nMessage-ID: <1@example.com>\r\n\r\nYes, please"


async def switch_on(world: World, **replies: Any) -> httpx.Response:
    path = f"/v1/environments/{id_text(world.api.environment.id)}"
    return await world.api.patch(path, json={"replies": {"enabled": True, "domain": DOMAIN} | replies})


async def send(world: World, **controls: Any) -> dict[str, Any]:
    """Send a mail that asks for replies, and return what its provider got."""
    async with account(world, "a") as first:
        await world.make_workflow(step("email", subject="Hi", body="<p>Hello</p>", **controls))
        await world.trigger(ADA)
        await world.work()
        body: dict[str, Any] = first.bodies[-1]
        return body


class Hook:
    """The address of an integration for inbound mail, and the events that it led to."""

    def __init__(self, world: World, url: str, endpoint: str) -> None:
        self.world = world
        self.url = url
        self.endpoint = endpoint

    async def post(self, body: Any, **headers: str) -> int:
        transport = self.world.api._transport
        async with httpx.AsyncClient(transport=transport, base_url="http://clarion.test") as client:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            sent = {"files": body} if isinstance(body, list) else {"content": body}
            return (await client.post(self.url, headers=named, **sent)).status_code

    async def mails(self) -> list[dict[str, Any]]:
        path = f"/v1/webhooks/endpoints/{self.endpoint}/deliveries"
        listed = (await self.world.api.get(path)).json()["data"]
        events = [(await self.world.api.get(f"{path}/{one['_id']}")).json() for one in listed]
        return [one["payload"]["data"] for one in events]


@pytest.fixture
def listen(world: World) -> Any:
    async def make(provider: str = "email-webhook") -> Hook:
        credentials = dict(CREDENTIALS.get(provider, {"webhookUrl": "https://x.example", "from": "a@example.com"}))
        body = {"providerId": provider, "channel": "email", "identifier": "inbound", "credentials": credentials}
        made = (await world.api.post("/v1/integrations", json=body)).json()
        url = (await world.api.get(f"/v1/integrations/{made['_id']}/replies-address")).json()["url"]
        hook = {"url": "https://hooks.example/a", "eventTypes": ["message.replied"]}
        endpoint = (await world.api.post("/v1/webhooks/endpoints", json=hook)).json()
        return Hook(world, url, endpoint.get("_id") or endpoint["endpoint"]["_id"])

    return make


def form(**fields: str) -> str:
    return urlencode(fields)


FORM = "application/x-www-form-urlencoded"


async def test_a_mail_asks_for_replies_at_an_address_of_its_own(world: World) -> None:
    assert (await switch_on(world)).json()["replies"] == {"enabled": True, "domain": DOMAIN}

    body = await send(world)

    address = body["replyTo"]
    assert address.startswith("reply+")
    assert address.endswith(f"@{DOMAIN}")


async def test_where_the_step_or_the_trigger_wants_replies_wins(world: World) -> None:
    await switch_on(world)

    assert (await send(world, replyTo="help@example.com"))["replyTo"] == "help@example.com"


async def test_they_are_off_at_first_and_need_a_domain(world: World) -> None:
    refused = await switch_on(world, domain=None)

    assert not (await send(world)).get("replyTo")
    assert refused.status_code == 422
    assert "replies.domain" in refused.text


async def test_a_reply_is_told_once(world: World, listen: Any, application: Application) -> None:
    await switch_on(world)
    address = (await send(world))["replyTo"]
    hook = await listen()

    first = await hook.post(form(email=RAW.format(to=address)), content_type=FORM)
    again = await hook.post(form(email=RAW.format(to=address)), content_type=FORM)

    assert (first, again) == (200, 200)
    (told,) = await hook.mails()
    assert told["subscriberId"] == "ada"
    assert told["mail"]["from"] == [{"address": "ada@example.com", "name": "Ada"}]
    assert (told["mail"]["subject"], told["mail"]["text"]) == ("Re: Hi", "Yes, please")
    (event,) = await world.events()
    assert "Message replied to" in details(event["jobs"][0])
    counted = application.services.measures.replies
    assert (counted[ReplyOutcome.RECORDED], counted[ReplyOutcome.REPEATED]) == (1, 1)


async def test_a_message_counts_once_as_replied_to_by_a_person(world: World, listen: Any) -> None:
    await switch_on(world)
    address = (await send(world))["replyTo"]
    hook = await listen()

    async def count(number: int, more: str = "") -> list[int]:
        raw = RAW.format(to=address).replace("<1@", f"<{number}@").replace("Subject", f"{more}Subject")
        await hook.post(form(email=raw), content_type=FORM)
        return [one["replied"] for one in (await world.api.get("/v1/usage/emails")).json()["data"]]

    assert await count(1, "Auto-Submitted: auto-replied\r\n") == []
    assert await count(2) == [1]
    assert await count(2) == [1]
    assert await count(3) == [1]
    assert len(await hook.mails()) == 3


def sendgrid(to: str) -> tuple[Any, dict[str, str]]:
    fields = {
        "headers": "Message-ID: <1@example.com>\nIn-Reply-To: <0@example.com>\n",
        "from": "Ada <ada@example.com>",
        "to": to,
        "subject": "Re: Hi",
        "text": "Yes, please",
        "html": "<p>Yes, please</p>",
        "envelope": json.dumps({"to": [to], "from": "ada@example.com"}),
        "dkim": "{@example.com : pass}",
        "SPF": "pass",
        "spam_score": "0.1",
    }
    files: list[Any] = [(name, (None, value)) for name, value in fields.items()]
    return [*files, ("attachment1", ("a.txt", b"hello", "text/plain"))], {}


def mailgun(to: str) -> tuple[Any, dict[str, str]]:
    headers = json.dumps([["Message-Id", "<1@example.com>"], ["In-Reply-To", "<0@example.com>"]])
    fields = {
        "recipient": to,
        "sender": "ada@example.com",
        "from": "Ada <ada@example.com>",
        "subject": "Re: Hi",
        "body-plain": "Yes, please",
        "body-html": "<p>Yes, please</p>",
        "message-headers": headers,
    }
    return urlencode(fields), {"content_type": FORM}


def postmark(to: str) -> tuple[Any, dict[str, str]]:
    event = {
        "From": "Ada <ada@example.com>",
        "To": to,
        "OriginalRecipient": to,
        "Subject": "Re: Hi",
        "TextBody": "Yes, please",
        "HtmlBody": "<p>Yes, please</p>",
        "MessageID": "22c74902",
        "Headers": [{"Name": "Message-ID", "Value": "<1@example.com>"}],
        "Attachments": [{"Name": "a.txt", "ContentType": "text/plain", "ContentLength": 5, "Content": "aGVsbG8="}],
    }
    return json.dumps(event), {"content_type": "application/json"}


def ses(to: str) -> tuple[Any, dict[str, str]]:
    event = {
        "notificationType": "Received",
        "mail": {"source": "ada@example.com"},
        "receipt": {"recipients": [to], "spfVerdict": {"status": "PASS"}, "action": {"encoding": "UTF-8"}},
        "content": RAW.format(to="other@example.com"),
    }
    return sns(Type="Notification", Message=json.dumps(event)).body, {"content_type": "text/plain"}


@pytest.mark.parametrize("provider", [sendgrid, mailgun, postmark, ses])
async def test_the_hooks_of_providers_hand_over_the_same_mail(world: World, listen: Any, provider: Any) -> None:
    await switch_on(world)
    address = (await send(world))["replyTo"]
    hook = await listen(provider.__name__)
    body, headers = provider(address)

    assert await hook.post(body, **headers) == 200

    (told,) = await hook.mails()
    mail = told["mail"]
    assert (mail["from"][0]["address"], mail["subject"], mail["text"]) == ("ada@example.com", "Re: Hi", "Yes, please")
    assert mail["messageId"] == "<1@example.com>"
    assert mail["envelopeTo"] == [address]


async def test_a_notification_that_amazon_did_not_sign_is_refused(world: World, listen: Any) -> None:
    await switch_on(world)
    address = (await send(world))["replyTo"]
    hook = await listen("ses")
    body = json.loads(ses(address)[0])

    assert await hook.post(json.dumps(body | {"Message": "{}"}), content_type="text/plain") == 401
    assert await hook.mails() == []


async def test_forged_addresses_and_those_of_neighbours_are_dropped_and_counted(
    world: World, listen: Any, other_api: Api, application: Application
) -> None:
    await switch_on(world)
    address = (await send(world))["replyTo"]
    hook = await listen()
    changed = address.replace("reply+", "reply+a", 1)[:48] + address[48:]
    neighbours = Hook(world, hook.url, hook.endpoint)
    made = (
        await other_api.post(
            "/v1/integrations",
            json={
                "providerId": "email-webhook",
                "channel": "email",
                "credentials": {"webhookUrl": "https://x.example"},
            },
        )
    ).json()
    neighbours.url = (await other_api.get(f"/v1/integrations/{made['_id']}/replies-address")).json()["url"]

    statuses = [
        await hook.post(form(email=RAW.format(to=changed)), content_type=FORM),
        await hook.post(form(email=RAW.format(to="nobody@example.com")), content_type=FORM),
        await neighbours.post(form(email=RAW.format(to=address)), content_type=FORM),
    ]

    assert statuses == [200, 200, 200]
    assert await hook.mails() == []
    assert application.services.measures.replies[ReplyOutcome.UNKNOWN] == 3


@pytest.mark.parametrize("change", ["token=x", ""])
async def test_the_address_needs_its_token(world: World, listen: Any, change: str) -> None:
    hook = await listen()
    hook.url = f"{hook.url.partition('?')[0]}?{change}"

    assert await hook.post(form(email=RAW.format(to="a@example.com")), content_type=FORM) == 404


@pytest.mark.parametrize(
    ("content_type", "body"),
    [("application/json", "[1]"), ("application/json", "{"), ("multipart/form-data; boundary=x", "--y")],
)
async def test_what_cannot_be_read_is_refused(world: World, listen: Any, content_type: str, body: str) -> None:
    hook = await listen()

    assert await hook.post(body, content_type=content_type) == 400


async def test_a_mail_that_was_delivered_to_somebody_else_is_not_even_read(
    world: World, listen: Any, application: Application
) -> None:
    await switch_on(world)
    address = (await send(world))["replyTo"]
    hook = await listen()
    costly = "\n" * 500_000

    elsewhere = await hook.post(form(email=costly, recipient="nobody@example.com"), content_type=FORM)
    ours = await hook.post(form(email=costly, recipient=address), content_type=FORM)

    assert (elsewhere, ours) == (200, 200)
    assert await hook.mails() == []
    counted = application.services.measures.replies
    assert (counted[ReplyOutcome.UNKNOWN], counted[ReplyOutcome.UNREADABLE]) == (1, 1)


async def test_more_replies_to_one_message_than_people_write_are_dropped_and_counted(
    world: World, listen: Any, application: Application
) -> None:
    await switch_on(world)
    address = (await send(world))["replyTo"]
    hook = await listen()

    statuses = [
        await hook.post(form(to=address, text="Hi", **{"message-id": f"<{number}@a.example>"}), content_type=FORM)
        for number in range(MAX_PER_MESSAGE.burst + 2)
    ]

    assert set(statuses) == {200}
    counted = application.services.measures.replies
    assert (counted[ReplyOutcome.RECORDED], counted[ReplyOutcome.LIMITED]) == (MAX_PER_MESSAGE.burst, 2)


async def test_a_form_of_very_many_fields_is_refused(world: World, listen: Any) -> None:
    hook = await listen()

    assert await hook.post("a&" * 10_000, content_type=FORM) == 400


async def test_what_a_hook_says_of_a_mail_need_not_be_json(world: World, listen: Any) -> None:
    await switch_on(world)
    address = (await send(world))["replyTo"]
    hook = await listen("sendgrid")

    assert await hook.post(form(envelope="{", to=address, text="Hi", spam_score="nan"), content_type=FORM) == 200
    assert [one["mail"]["spamScore"] for one in await hook.mails()] == [None]


async def test_an_address_that_was_made_up_is_refused_without_asking_whether_it_exists(
    world: World, listen: Any
) -> None:
    hook = await listen()
    path, token = hook.url.split("?")
    other = path.rsplit("/", 1)[0] + "/" + "0" * 24

    answers = [
        await Hook(world, url, hook.endpoint).post(form(email="x"), content_type=FORM)
        for url in (f"{other}?{token}", path, f"{path}?token=x")
    ]

    assert answers == [404, 404, 404]
