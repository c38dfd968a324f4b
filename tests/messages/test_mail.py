"""An e-mail as its provider was given it, and the outbox of the built-in providers."""

from typing import Any

import pytest

from clarion.app import Application
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vault import Vault
from tests.engine.providers import ADA
from tests.engine.support import World, in_app, step
from tests.sending.test_email_options import OPTIONS, PAYLOAD, email
from tests.support import Api

BOB = {"subscriberId": "bob", "email": "Bob.Stone@example.com", "phone": "+4915112345678"}


@pytest.fixture
async def world(
    api: Api, application: Application, database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> World:
    bus = application.services.bus
    for channel in ("email", "sms"):
        body = {"providerId": f"svc-{channel}", "channel": channel, "active": True}
        assert (await api.post("/v1/integrations", json=body)).status_code == 201
    return World(api, Engine(database, clock=clock, vault=vault, bus=bus, gateway=gateway), clock)


async def get_mail(world: World, **trigger: Any) -> dict[str, Any]:
    await world.trigger(ADA, payload=PAYLOAD, **trigger)
    await world.work()
    newest = (await world.messages())[0]
    found: dict[str, Any] = (await world.api.get(f"/v1/messages/{newest['_id']}")).json()["mail"]
    return found


async def list_outbox(world: World, **query: Any) -> list[tuple[str, str]]:
    response = await world.api.get("/v1/outbox", params=query)
    assert response.status_code == 200, response.text
    return [(one["channel"], one.get("email") or one["phone"]) for one in response.json()["data"]]


async def test_a_mail_is_shown_with_what_the_step_asked_for(world: World) -> None:
    await world.make_workflow(email(**OPTIONS))

    mail = await get_mail(world)

    html = mail.pop("html")
    assert "Order 7 &amp; more</div><p>x</p>" in html
    assert mail == {
        "from": "tea@example.com",
        "senderName": "The tea shop",
        "subject": "Hi",
        "replyTo": ["help+7@example.com"],
        "toOthers": [],
        "cc": ["x@example.com", "y@example.com", "Bob <bob@example.com>"],
        "bcc": ["archive@example.com"],
        "headers": {"X-Order": "7", "X-Kind": "order"},
        "attachments": [],
        "text": "x\n",
    }


async def test_a_mail_is_shown_with_what_the_trigger_wanted_instead(world: World) -> None:
    workflow = await world.make_workflow(email(**OPTIONS))
    provider = {"svc-email": {"html": "<b>y</b>", "headers": {"X-Order": "8"}}}
    overrides = {
        "email": {"subject": "Ho", "text": 5},
        "steps": {workflow["steps"][0]["stepId"]: {"providers": provider}},
    }

    mail = await get_mail(world, overrides=overrides)

    assert (mail["subject"], mail["headers"]) == ("Ho", {"X-Kind": "order", "X-Order": "8"})
    assert mail["html"].endswith("<b>y</b>")


async def test_only_emails_are_shown_as_mails(world: World) -> None:
    await world.make_workflow(in_app("Hello"))
    await world.trigger()
    await world.work()
    (message,) = await world.messages()

    assert "mail" not in (await world.api.get(f"/v1/messages/{message['_id']}")).json()


async def test_the_outbox_is_filtered_by_channel_and_recipient(world: World) -> None:
    await world.make_workflow(email(), step("sms", body="Hi"))
    await world.trigger(ADA)
    await world.trigger(BOB)
    await world.work()

    assert len(await list_outbox(world)) == 3
    assert await list_outbox(world, channel="sms") == [("sms", "+4915112345678")]
    assert await list_outbox(world, recipient=" bob.stone@ ") == [("email", "Bob.Stone@example.com")]
    assert len(await list_outbox(world, recipient="bob")) == 2
    assert await list_outbox(world, recipient="nobody") == []
    assert await list_outbox(world, recipient="ada", channel="sms") == []
    assert (await world.api.get("/v1/outbox", params={"channel": "push"})).status_code == 422
