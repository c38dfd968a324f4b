"""Links and headers in messages, from the trigger to the provider and back to the page."""

import json
import re
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from clarion.conditions.lazy import LazyText
from clarion.providers.email.message import with_unsubscribe_headers
from clarion.templates import evaluate_key, render_text
from tests.engine.providers import ADA, account
from tests.engine.support import World, in_app, step
from tests.preferences.unsubscribe.conftest import PUBLIC_URL
from tests.providers.contract.golden import make_email_message, make_gateway
from tests.providers.contract.smtp_cases import SMTP_CASES, SmtpCase, play_mail
from tests.providers.contract.table import CASES
from tests.providers.contract.vendor import play
from tests.providers.signing.dkim_verifier import find_signature, is_signed, read_tags
from tests.providers.signing.test_dkim import ED25519, SEED

CRITICAL = {"user": {"all": {"enabled": True, "readOnly": True}}}
TEXT = "Hi. {{unsubscribe_url}} {{preferences_url}}"
URL = "https://clarion.example/unsubscribe?token=x"


def email(body: str = "<p>x</p>", **controls: Any) -> dict[str, Any]:
    return step("email", subject="Hi", body=body, **controls)


def find_token(text: str) -> str:
    found = re.search(r"token=([A-Za-z0-9_-]+)", text)
    assert found is not None, text
    return found[1]


async def test_an_email_has_the_headers_and_its_link_stops_the_next_one(
    world: World, browser: httpx.AsyncClient
) -> None:
    async with account(world, "a") as first:
        await world.make_workflow(email())
        await world.trigger(ADA)
        await world.work()
        headers = first.bodies[-1]["headers"]
        link = headers["List-Unsubscribe"]
        await browser.post(f"/unsubscribe?token={find_token(link)}", data={"List-Unsubscribe": "One-Click"})
        await world.trigger(ADA)
        await world.work()

        assert link.startswith(f"<{PUBLIC_URL}/unsubscribe?token=")
        assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        assert "unsubscribeUrl" not in first.bodies[-1]
        assert first.count == 1
    (message,) = await world.messages()
    shown = (await world.api.get(f"/v1/messages/{message['_id']}")).json()
    assert shown["mail"]["headers"]["List-Unsubscribe"] == link
    assert await world.statuses() == [["completed"], ["skipped"]]


async def test_headers_of_the_step_and_of_the_trigger_win(world: World) -> None:
    async with account(world, "a") as first:
        await world.make_workflow(email(headers={"list-unsubscribe": "<mailto:a@example.com>"}), key="own")
        await world.make_workflow(email(), key="plain")
        await world.trigger(ADA, name="own")
        overrides = {"email": {"headers": {"List-Unsubscribe": "<mailto:b@example.com>"}}}
        await world.trigger(ADA, name="plain", overrides=overrides)
        await world.work()

        assert sorted(str(one["headers"]) for one in first.bodies) == [
            "{'List-Unsubscribe': '<mailto:b@example.com>'}",
            "{'list-unsubscribe': '<mailto:a@example.com>'}",
        ]


async def test_critical_workflows_have_no_link_to_unsubscribe(world: World) -> None:
    async with account(world, "a") as first:
        await world.make_workflow(email("<p>[{{unsubscribe_url}}] {{preferences_url}}</p>"), preferences=CRITICAL)
        await world.trigger(ADA)
        await world.work()

        assert not first.bodies[-1].get("headers")
        assert f"[] {PUBLIC_URL}/preferences?token=" in first.bodies[-1]["html"]


async def test_a_critical_workflow_that_names_the_link_has_an_issue(world: World) -> None:
    made = await world.make_workflow(email("{{unsubscribe_url}} {{preferences_url}}"), preferences=CRITICAL)
    plain = await world.make_workflow(email("{{unsubscribe_url}} {{preferences_url}}"), key="plain")

    (issue,) = made["steps"][0]["issues"]["controls"]["body"]
    assert "nobody can unsubscribe" in issue["message"]
    assert "issues" not in plain["steps"][0]


async def test_texts_of_all_channels_can_have_links_of_their_own_channel(
    world: World, browser: httpx.AsyncClient
) -> None:
    await world.make_workflow(in_app(TEXT), step("sms", body=TEXT), step("chat", body=TEXT))
    await world.trigger(ADA | {"phone": "+4915112345678"})
    await world.work()
    (text,) = await world.feed()

    page = await browser.get(f"/unsubscribe?token={find_token(text)}")
    await browser.post(f"/unsubscribe?token={find_token(text)}", data={"action": "unsubscribe"})
    (preference,) = (await world.api.get("/v2/subscribers/ada/preferences")).json()["workflows"]

    assert "In the app" in page.text
    assert text.count(find_token(text)) == 2
    assert preference["channels"] == {"in_app": False, "sms": True, "chat": True}


async def test_simulations_and_previews_have_samples(world: World) -> None:
    await world.make_workflow(in_app(TEXT))
    simulated = (await world.api.post("/v1/simulate", json={"name": "welcome", "to": "ada"})).json()
    body = {"type": "sms", "controlValues": {"body": TEXT}}
    preview = (await world.api.post("/v1/workflows/steps/preview", json=body)).json()

    expected = f"Hi. {PUBLIC_URL}/unsubscribe?token=sample {PUBLIC_URL}/preferences?token=sample"
    assert simulated["recipients"][0]["messages"][0]["content"] == expected
    assert preview["result"]["preview"]["body"] == expected


async def test_without_a_public_address_there_are_no_links(world: World) -> None:
    world.engine.source = replace(world.engine.source, public_url=None)
    async with account(world, "a") as first:
        await world.make_workflow(email("<p>[{{unsubscribe_url}}{{preferences_url}}]</p>"))
        await world.trigger(ADA)
        await world.work()

        assert "[]" in first.bodies[-1]["html"]
        assert not first.bodies[-1].get("headers")


async def test_the_headers_are_under_the_signature_of_the_mail() -> None:
    (base,) = [one for one in SMTP_CASES if one.id == "nodemailer"]
    dkim = {"domain": "example.com", "accountSid": "mail2026", "secretKey": SEED}
    case = SmtpCase(id="nodemailer", credentials={**base.credentials, **dkim})
    async with play_mail(case) as (server, gateway):
        await gateway.send("nodemailer", replace(make_email_message(case), unsubscribe_url=URL))
    (envelope,) = server.envelopes
    content = envelope.original_content or b""

    signed = read_tags(find_signature(content))["h"].lower().split(":")
    assert f"List-Unsubscribe: <{URL}>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n".encode() in content
    assert {"list-unsubscribe", "list-unsubscribe-post"} <= set(signed)
    assert is_signed(content, ED25519.public_key())
    assert not is_signed(content.replace(b"token=x", b"token=y"), ED25519.public_key())


def test_one_click_needs_a_safe_link() -> None:
    assert with_unsubscribe_headers({}, "http://localhost/u") == {"List-Unsubscribe": "<http://localhost/u>"}
    assert with_unsubscribe_headers({"X": "y"}, None) == {"X": "y"}


@pytest.mark.parametrize(
    "template", ["{{a}}", "{{a | upcase}}", "{% if a == 'x<' %}yes{% endif %}", "{{a.b}}", "{{a[0]}}"]
)
@given(made=st.text(max_size=20))
def test_a_lazy_text_renders_as_the_text_does(template: str, made: str) -> None:
    for html in (False, True):
        lazy = render_text(template, {"a": LazyText(lambda: made)}, html=html)
        assert lazy == render_text(template, {"a": made}, html=html)


def test_a_lazy_text_is_made_only_if_it_is_asked_for() -> None:
    def fail() -> str:
        raise AssertionError

    assert render_text("{{b}}", {"a": LazyText(fail), "b": "x"}) == "x"
    assert evaluate_key("a", {"a": LazyText(lambda: "key")}) == "key"


async def test_a_provider_that_charges_for_headers_gets_those_of_the_step_alone() -> None:
    (case,) = [one for one in CASES if one.id == "mailersend"]
    async with play(case.answers(case.success)) as vendor, make_gateway(vendor) as gateway:
        await gateway.send(case.id, replace(case.make_outgoing(overrides={}), unsubscribe_url=URL))
        await gateway.send(
            case.id, replace(case.make_outgoing(overrides={"headers": {"X-A": "b"}}), unsubscribe_url=URL)
        )

    plain, own = (json.loads(request.body) for request in vendor.requests)
    assert "headers" not in plain
    assert own["headers"] == [{"name": "X-A", "value": "b"}]
