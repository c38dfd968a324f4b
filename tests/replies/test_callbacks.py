"""Reply callbacks of steps, from the mail that somebody replies to, to the receiver."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from clarion.clock import DAY, SECOND, ManualClock
from clarion.db.port import Database
from clarion.ids import id_text
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vault import Vault
from clarion.vocabulary import Scope
from clarion.webhooks.sender import WebhookSender
from tests.engine.providers import ADA, Account, account
from tests.engine.support import World, details, step
from tests.providers.loopback import answering
from tests.replies.test_routes import DOMAIN, FORM, RAW, form, listen, switch_on
from tests.support import Api, MakeApi, Site
from tests.webhooks.support import Receiver, receiver

__all__ = ["listen"]


@pytest.fixture
def webhooks(database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock) -> WebhookSender:
    return WebhookSender(database, clock=clock, vault=vault, gateway=gateway)


@pytest.fixture
async def hook() -> AsyncIterator[Receiver]:
    async with receiver() as made:
        yield made


class Mails:
    """Sends mails of steps with a callback."""

    def __init__(self, world: World, provider: Account) -> None:
        self.world = world
        self.provider = provider

    async def send(self, callback: Any, payload: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
        """Send a mail, and return what its provider got."""
        mail = step("email", subject="Hi", body="<p>Hello</p>") | {"replyCallback": callback}
        key = f"mail-{len(self.provider.bodies)}"
        await self.world.make_workflow(mail, key=key, **fields)
        await self.world.trigger(ADA, name=key, payload=payload or {})
        await self.world.work()
        body: dict[str, Any] = self.provider.bodies[-1]
        return body


@pytest.fixture
async def mails(world: World) -> AsyncIterator[Mails]:
    async with account(world, "a") as provider:
        yield Mails(world, provider)


async def reply(inbound: Any, address: str) -> None:
    assert await inbound.post(form(email=RAW.format(to=address)), content_type=FORM) == 200


async def deliveries(api: Api) -> list[dict[str, Any]]:
    path = f"/v1/webhooks/endpoints/{id_text(api.environment.id)}/deliveries"
    listed: list[dict[str, Any]] = (await api.get(path)).json()["data"]
    return listed


async def test_a_reply_is_posted_to_the_url_of_the_step(
    world: World, mails: Mails, listen: Any, hook: Receiver, webhooks: WebhookSender
) -> None:
    await switch_on(world)
    url = hook.url + "?order={{payload.order}}&again={{order}}"
    address = (await mails.send({"active": True, "url": url}, {"order": "A1"}))["replyTo"]
    inbound = await listen()

    await reply(inbound, address)
    await reply(inbound, address)
    await webhooks.work()

    (received,) = hook.received
    body = json.loads(received.body)
    assert set(body) == BODY
    assert body["mail"]["text"] == "Yes, please"
    assert body["message"]["subscriberId"] == "ada"
    assert body["payload"] == {"order": "A1"}
    assert body["template"]["triggers"] == [{"type": "event", "identifier": body["templateIdentifier"]}]
    assert body["notification"]["transactionId"] == body["transactionId"]
    (delivery,) = await deliveries(world.api)
    assert delivery["url"] == hook.url + "?order=A1&again=A1"
    assert (delivery["status"], delivery["responseStatus"]) == ("delivered", 204)
    assert delivery["payload"] == body
    assert received.id == delivery["eventId"]
    (event,) = await world.events()
    raws = [one["raw"] for one in event["jobs"][0]["executionDetails"] if one["detail"] == "Message replied to"]
    assert [json.loads(one)["callbackEventId"] for one in raws] == [delivery["eventId"]]


BODY = {"transactionId", "payload", "templateIdentifier", "template", "notification", "message", "mail"}


async def echo(request: bytes, writer: asyncio.StreamWriter) -> None:
    await answering(500, request.partition(b"\r\n\r\n")[2].decode())(request, writer)


async def test_a_receiver_that_a_payload_names_gets_nothing_that_opens_an_inbox(
    world: World, mails: Mails, listen: Any, webhooks: WebhookSender
) -> None:
    """The attack: have a mail about somebody go to an own mailbox, and its reply to an own host that echoes it."""
    await switch_on(world)
    proof = hmac.new(world.api.key.encode(), b"ada", hashlib.sha256).hexdigest()
    async with receiver(echo) as own:
        address = (
            await mails.send({"active": True, "url": "{{callbackUrl}}"}, {"callbackUrl": own.url, "otp": "472913"})
        )["replyTo"]
        await reply(await listen(), address)
        await webhooks.work()
        (received,) = own.received

    shown = await deliveries(world.api)
    assert [one["errorText"] for one in shown] == ["The receiver answered 500"]
    for text in (received.body.decode(), json.dumps(shown)):
        assert proof not in text
        assert world.api.key not in text


async def test_it_is_signed_like_webhooks(
    world: World, mails: Mails, listen: Any, hook: Receiver, webhooks: WebhookSender
) -> None:
    await switch_on(world)
    endpoint = f"/v1/webhooks/endpoints/{id_text(world.api.environment.id)}"
    secret = (await world.api.post(f"{endpoint}/rotate-secret")).json()["secret"]
    address = (await mails.send({"active": True, "url": hook.url}))["replyTo"]

    await reply(await listen(), address)
    await webhooks.work()

    assert hook.received[0].is_signed_with(secret)


async def test_it_is_tried_again_and_no_failure_switches_off_others(
    world: World, mails: Mails, listen: Any, webhooks: WebhookSender, clock: ManualClock
) -> None:
    await switch_on(world)
    async with receiver(answering(410, "gone")) as gone, receiver(answering(500, "no")) as broken:
        inbound = await listen()
        await reply(inbound, (await mails.send({"active": True, "url": gone.url}))["replyTo"])
        await reply(inbound, (await mails.send({"active": True, "url": broken.url}))["replyTo"])
        await webhooks.work()
        clock.move(10 * SECOND)
        await webhooks.work()
        clock.move(6 * DAY)
        await webhooks.work()

        assert len(gone.received) == 1
        assert len(broken.received) == 3
    assert sorted(one["status"] for one in await deliveries(world.api)) == ["failed", "queued"]
    shown = (await world.api.get(f"/v1/webhooks/endpoints/{id_text(world.api.environment.id)}")).json()
    assert (shown["active"], shown.get("failingSince"), shown["url"]) == (True, None, "")
    assert shown["eventTypes"] == ["message.replied"]


async def test_a_private_address_is_not_called(
    world: World, mails: Mails, listen: Any, webhooks: WebhookSender
) -> None:
    await switch_on(world)
    address = (await mails.send({"active": True, "url": "{{payload.to}}"}, {"to": "http://10.0.0.1/"}))["replyTo"]

    await reply(await listen(), address)
    await webhooks.work()

    (delivery,) = await deliveries(world.api)
    assert delivery["status"] == "queued"
    assert "responseStatus" not in delivery
    assert delivery["errorText"]


@pytest.mark.parametrize("value", ["", "javascript:alert(1)", "ftp://x.example/", "https://x.example/\na", 7])
async def test_a_template_that_makes_no_url_is_told_in_the_run(
    world: World, mails: Mails, listen: Any, value: Any
) -> None:
    await switch_on(world)
    address = (await mails.send({"active": True, "url": "{{payload.to}}"}, {"to": value}))["replyTo"]

    await reply(await listen(), address)

    assert await deliveries(world.api) == []
    (event,) = await world.events()
    assert "Inbound mail - Missing replay callback URL" in details(event["jobs"][0])


async def test_without_a_domain_the_run_says_what_is_missing(world: World, mails: Mails) -> None:
    body = await mails.send({"active": True, "url": "https://x.example/"})

    assert not body.get("replyTo")
    (event,) = await world.events()
    assert "Inbound mail - Missing MX route domain configuration" in details(event["jobs"][0])


async def test_a_step_with_a_callback_needs_no_switch_of_the_environment(world: World, mails: Mails) -> None:
    await switch_on(world, enabled=False)

    assert (await mails.send({"active": True, "url": "https://x.example/"}))["replyTo"].endswith(DOMAIN)
    assert not (await mails.send({"active": False, "url": "https://x.example/"})).get("replyTo")


async def test_a_workflow_decides_otherwise_than_its_environment(world: World, mails: Mails) -> None:
    await switch_on(world)

    assert not (await mails.send(None, takesReplies=False)).get("replyTo")
    await switch_on(world, enabled=False)
    assert (await mails.send(None, takesReplies=True))["replyTo"].endswith(DOMAIN)


@pytest.mark.parametrize(
    ("callback", "path", "kind"),
    [
        ({"active": True}, "url", "email"),
        ({"active": True, "url": "ftp://x.example"}, "url", "email"),
        ({"active": True, "url": "https://{{payload.host}}/"}, "url", "email"),
        ({"active": True, "url": "https://x.example{{payload.path}}"}, "url", "email"),
        ({"active": True, "url": "https://x.example\\{{payload.path}}"}, "url", "email"),
        ({"active": True, "url": "https://x.example/{{payload"}, "url", "email"),
        ({"active": True, "url": "{{payload.host}}/hooks"}, "url", "email"),
        ({"active": True, "url": "{{payload.a}}{{payload.b}}"}, "url", "email"),
        ({"active": True, "url": "{% if a %}https://{{payload.host}}{% endif %}"}, "url", "email"),
        ({"active": True, "url": "http://10.0.0.1/{{payload.path}}"}, "url", "email"),
        ({"active": True, "url": "http://169.254.169.254/latest"}, "url", "email"),
        ({"active": False, "url": "/hooks"}, "url", "email"),
        ({"active": True, "url": "https://x.example"}, "", "sms"),
    ],
)
async def test_what_could_not_work_is_refused_when_it_is_saved(api: Api, callback: Any, path: str, kind: str) -> None:
    response = await make(api, callback, kind)

    assert response.status_code == 422
    assert ".".join(filter(None, ("steps.0.replyCallback", path))) in response.json()["errors"]


async def make(api: Api, callback: Any, kind: str = "email") -> httpx.Response:
    saved = {"name": "Mail", "type": kind, "controlValues": {"body": "Hi"}, "replyCallback": callback}
    return await api.post("/v2/workflows", json={"workflowId": "w", "name": "W", "steps": [saved]})


async def test_it_is_shown_and_kept_by_a_copy(api: Api) -> None:
    callback = {"active": True, "url": "https://x.example/{{payload.order}}"}
    made = (await make(api, callback)).json()

    copied = (await api.post("/v2/workflows/w/duplicate", json={"workflowId": "copy"})).json()

    assert made["steps"][0]["replyCallback"] == callback
    assert copied["steps"][0]["replyCallback"] == callback
    assert "replyCallback" not in (await api.post("/v2/workflows", json=PLAIN)).json()["steps"][0]


PLAIN = {"workflowId": "plain", "name": "W", "steps": [{"name": "Mail", "type": "email"}]}


async def test_the_endpoint_of_callbacks_cannot_be_made_into_another_one(world: World, mails: Mails) -> None:
    await switch_on(world)
    path = f"/v1/webhooks/endpoints/{id_text(world.api.environment.id)}"

    refused = [
        await world.api.patch(path, json={"url": "https://x.example/"}),
        await world.api.patch(path, json={"eventTypes": []}),
        await world.api.delete(path),
        await world.api.post(f"{path}/test"),
    ]

    assert [one.status_code for one in refused] == [422] * 4
    assert (await world.api.patch(path, json={"active": False})).json()["active"] is False


async def test_the_url_is_masked_for_those_who_may_only_read(
    world: World, mails: Mails, listen: Any, make_api: MakeApi
) -> None:
    await switch_on(world)
    payload = {"callbackUrl": "https://x.example/hooks?token=secret", "otp": "secret"}
    await reply(await listen(), (await mails.send({"active": True, "url": "{{callbackUrl}}"}, payload))["replyTo"])
    reader = await make_api(scopes=frozenset({Scope.WEBHOOKS_READ}))

    path = f"/v1/webhooks/endpoints/{id_text(world.api.environment.id)}/deliveries"
    shown = (await reader.get(path)).json()["data"]

    assert "secret" not in json.dumps(shown)
    assert "payload" not in shown[0]["payload"]
    assert shown[0]["payload"]["mail"]["text"] == "Yes, please"
    assert shown[0]["url"].startswith("https://x.example")


async def test_the_payload_of_the_trigger_needs_the_right_to_read_events(
    world: World, mails: Mails, listen: Any, make_api: MakeApi
) -> None:
    await switch_on(world)
    address = (await mails.send({"active": True, "url": "https://x.example/"}, {"otp": "472913"}))["replyTo"]
    await reply(await listen(), address)
    (delivery,) = await deliveries(world.api)
    path = f"/v1/webhooks/endpoints/{id_text(world.api.environment.id)}/deliveries/{delivery['_id']}"
    reading = frozenset({Scope.WEBHOOKS_READ})
    writer = await make_api(scopes=reading | {Scope.WEBHOOKS_WRITE})
    auditor = await make_api(scopes=reading | {Scope.EVENTS_READ})

    hidden = [(await writer.get(path)).json(), (await writer.post(f"{path}/replay")).json()]

    assert all("payload" not in one["payload"] for one in hidden)
    assert "472913" not in json.dumps(hidden)
    assert (await auditor.get(path)).json()["payload"]["payload"] == {"otp": "472913"}


async def test_attachments_are_named_without_their_files(
    world: World, mails: Mails, listen: Any, hook: Receiver, webhooks: WebhookSender
) -> None:
    await switch_on(world)
    files = [{"file": base64.b64encode(bytes(size)).decode(), "name": "a.txt", "mime": "text/plain"} for size in SIZES]
    address = (await mails.send({"active": True, "url": hook.url}, {"attachments": files}))["replyTo"]

    await reply(await listen(), address)
    await webhooks.work()

    posted = json.loads(hook.received[0].body)["payload"]["attachments"]
    assert posted == [{"name": "a.txt", "mime": "text/plain"}] * 2


SIZES = (10, 5000)
"""Small files stay in the payload, large ones are stored beside it."""


async def test_who_may_not_write_webhooks_sets_no_callback(api: Api, make_api: MakeApi) -> None:
    callback = {"active": True, "url": "https://x.example/"}
    author = await make_api(scopes=frozenset({Scope.WORKFLOWS_READ, Scope.WORKFLOWS_WRITE}))
    assert (await make(author, callback)).status_code == 403
    assert (await make(author, {"active": False, "url": "https://x.example/"})).status_code == 403
    first = (await make(api, callback)).json()

    async def save(by: Api, wanted: Any) -> httpx.Response:
        step = {key: first["steps"][0][key] for key in ("_id", "name", "type", "controlValues")}
        steps = [step | {"replyCallback": wanted}]
        return await by.put("/v2/workflows/w", json={"name": "W", "steps": steps})

    assert (await save(author, callback)).status_code == 200
    refused = await save(author, {"active": True, "url": "{{callbackUrl}}"})
    assert refused.status_code == 403
    assert refused.json()["ctx"] == {"missingScopes": ["webhooks:write"]}
    assert (await author.post("/v2/workflows/w/duplicate", json={"workflowId": "copy"})).status_code == 403
    assert (await save(author, {"active": False, "url": "https://x.example/"})).status_code == 200
    assert (await save(author, callback)).status_code == 403
    assert (await save(author, None)).status_code == 200
    versions = (await api.get("/v1/workflows/w/versions")).json()["data"]
    restore = f"/v1/workflows/w/versions/{versions[-1]['_id']}/restore"
    assert (await author.post(restore)).status_code == 403
    assert (await api.post(restore)).json()["steps"][0]["replyCallback"] == callback


async def test_promotion_brings_a_callback_only_for_those_who_may_set_it(
    api: Api, make_api: MakeApi, site: Site
) -> None:
    await make(api, {"active": True, "url": "https://x.example/"})
    rights = {Scope.ALL, Scope.ORGANIZATION_REACH}
    limited = {Scope.ORGANIZATION_REACH, Scope.ENVIRONMENTS_WRITE, Scope.ENVIRONMENTS_READ}
    limited |= {Scope.WORKFLOWS_READ, Scope.WORKFLOWS_WRITE}
    body = {"targetEnvironmentId": id_text(site.production.id)}
    lesser, whole = await make_api(scopes=frozenset(limited)), await make_api(scopes=frozenset(rights))

    assert (await lesser.put("/v2/workflows/w/sync", json=body)).status_code == 403
    assert (await whole.put("/v2/workflows/w/sync", json=body)).status_code == 200
    # What is there already may be written back.
    await api.patch("/v2/workflows/w", json={"name": "Other"})
    assert (await lesser.put("/v2/workflows/w/sync", json=body)).status_code == 200
