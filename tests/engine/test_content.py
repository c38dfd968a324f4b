"""What messages contain: rendered texts without dangerous markup, and what a step refuses to send."""

import json
from typing import Any

import pytest

from tests.engine.providers import ADA, account
from tests.engine.support import World, details, in_app, step

NUL = "{{'%00' | url_decode}}"
IMAGE = "<img src=x onerror=alert(1)>"
DOCUMENT = json.dumps({"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "Hi"}]}]})


async def feed_item(world: World) -> dict[str, Any]:
    (item,) = (await world.api.get("/v1/subscribers/ada/notifications/feed")).json()["data"]
    found: dict[str, Any] = item
    return found


async def run_in_app(world: World, body: str, payload: dict[str, Any], **controls: Any) -> dict[str, Any]:
    await world.make_workflow(in_app(body, **controls))
    await world.trigger(payload=payload)
    await world.work()
    return await feed_item(world)


async def test_a_decoded_nul_character_is_left_out_of_the_message(world: World) -> None:
    await world.make_workflow(in_app(f"a{NUL}b", subject=f"c{NUL}d", data={"n": f"e{NUL}f"}))
    await world.trigger()
    await world.work()

    (message,) = await world.messages()
    assert await world.statuses() == [["completed"]]
    assert (message["content"], message["subject"]) == ("ab", "cd")


async def test_a_new_message_is_neither_seen_nor_read_nor_archived(world: World) -> None:
    item = await run_in_app(world, "Hi", {})

    (message,) = await world.messages()
    assert [(one["seen"], one["read"], one.get("archived", False)) for one in (item, message)] == [(False,) * 3] * 2


async def test_dangerous_markup_is_removed_from_in_app_texts(world: World) -> None:
    action = {"label": "Go {{payload.text}}"}
    item = await run_in_app(world, "<b>Hi</b> {{payload.text}}", {"text": IMAGE}, subject=IMAGE, primaryAction=action)

    assert (item["content"], item["subject"]) == ('<b>Hi</b> <img src="x">', '<img src="x">')
    assert item["cta"]["action"]["buttons"][0]["content"] == 'Go <img src="x">'


async def test_markup_stays_where_the_step_disables_sanitizing(world: World) -> None:
    item = await run_in_app(world, "{{payload.text}}", {"text": IMAGE}, subject=IMAGE, disableOutputSanitization=True)

    assert (item["content"], item["subject"]) == (IMAGE, IMAGE)


@pytest.mark.parametrize("text", ["a < b & c > d", "a<b", "Ada <ada@example.com>", "\"quoted\" & 'simple'", "I <3 you"])
async def test_plain_text_reaches_the_inbox_as_it_was_typed(world: World, text: str) -> None:
    item = await run_in_app(world, "{{payload.text}}", {"text": text}, subject=text)

    assert (item["content"], item["subject"]) == (text, text)


@pytest.mark.parametrize("is_disabled", [False, True])
async def test_links_that_run_code_are_left_out_and_named(world: World, is_disabled: bool) -> None:
    link = {"url": "{{payload.url}}"}
    controls: dict[str, Any] = {"redirect": link, "primaryAction": {"label": "Go", "redirect": link}}
    controls |= {"secondaryAction": {"label": "Stay", "redirect": {"url": "/x"}}}
    item = await run_in_app(
        world, "Hi", {"url": " java\tscript:alert(1)"}, disableOutputSanitization=is_disabled, **controls
    )

    (event,) = await world.events()
    (warning,) = [one for one in event["jobs"][0]["executionDetails"] if one["status"] == "Warning"]
    assert event["jobs"][0]["status"] == "completed"
    assert item["cta"] == {
        "action": {
            "buttons": [
                {"type": "primary", "content": "Go"},
                {"type": "secondary", "content": "Stay", "url": "/x", "target": "_self"},
            ]
        }
    }
    assert json.loads(warning["raw"])["fields"] == ["primaryAction.redirect.url", "redirect.url"]


@pytest.mark.parametrize("controls", [{}, {"editorType": "html"}, {"editorType": "block"}])
async def test_a_block_document_is_mailed_as_html(world: World, controls: dict[str, Any]) -> None:
    async with account(world, "a") as first:
        await world.make_workflow(step("email", subject="A & B", body=DOCUMENT, **controls))
        await world.trigger(ADA)
        await world.work()

        assert ">Hi</p>" in first.bodies[0]["html"]
        assert "<title>A &amp; B</title>" in first.bodies[0]["html"]


@pytest.mark.parametrize(
    "controls",
    [
        {"body": DOCUMENT.replace("Hi", "{% if x %}{{ 'y' }}\n{% endif %}")},
        {"body": '[{"type": "text", "content": "Hi"}]', "editorType": "block"},
        {"body": DOCUMENT.replace("paragraph", "paragraf")},
    ],
)
async def test_a_document_that_is_wrong_is_not_mailed(world: World, controls: dict[str, Any]) -> None:
    async with account(world, "a") as first:
        await world.make_workflow(step("email", subject="Hi", **controls), in_app("after"))
        await world.trigger(ADA)
        await world.work()

        (event,) = await world.events()
        assert first.count == 0
        assert [job["status"] for job in event["jobs"]] == ["failed", "completed"]
        assert details(event["jobs"][0])[-1] == "Message content could not be generated"
        assert "body" in json.loads(event["jobs"][0]["executionDetails"][-1]["raw"])["reason"]


async def test_html_is_mailed_whatever_editor_the_step_names(world: World) -> None:
    async with account(world, "a") as first:
        body = "{{payload.json}}<p>x</p>"
        await world.make_workflow(step("email", subject="Hi", body=body, editorType="block"))
        await world.trigger(ADA, payload={"json": "[1]"})
        await world.work()

        assert first.bodies[0]["html"] == "[1]<p>x</p>"


PREVIEWED: dict[str, dict[str, Any]] = {
    "in_app": {
        "subject": "{{payload.text}}",
        "body": "<b>{{payload.text}}</b>",
        "redirect": {"url": "{{payload.url}}"},
    },
    "email": {"subject": "{{payload.text}}", "body": "<b>{{payload.text}}</b>"},
    "email of the block editor": {"subject": "x", "body": "<b>{{payload.text}}</b>", "editorType": "block"},
    "sms": {"body": "<b>{{payload.text}}</b>"},
}


@pytest.mark.parametrize("kind", PREVIEWED)
async def test_a_preview_shows_what_is_sent(world: World, kind: str) -> None:
    payload = {"text": f"Tom & {IMAGE}", "url": "javascript:alert(1)"}
    made = await world.make_workflow(step(kind.partition(" ")[0], "One", **PREVIEWED[kind]))
    path = f"/v2/workflows/{made['workflowId']}/step/one/preview"
    preview = (await world.api.post(path, json={"previewPayload": {"payload": payload}})).json()["result"]["preview"]
    for channel in ("email", "sms"):
        body = {"providerId": f"svc-{channel}", "channel": channel, "active": True}
        assert (await world.api.post("/v1/integrations", json=body)).status_code == 201
    await world.trigger(ADA | {"phone": "+442079460000"}, payload=payload)
    await world.work()

    (message,) = await world.messages()
    assert message["content"] == preview["body"]
    assert message.get("subject") == preview.get("subject")
    assert message["cta"].get("data") == preview.get("redirect")


async def test_a_preview_of_an_email_shows_the_sender_copies_and_headers_of_the_send(world: World) -> None:
    controls = {
        "subject": "x",
        "body": "<p>x</p>",
        "from": {"email": "{{payload.shop}}@example.com", "name": "Shop {{payload.shop}}"},
        "replyTo": "{{payload.shop}}-help@example.com",
        "cc": "{{payload.shop}}-cc@example.com",
        "bcc": ["{{payload.shop}}-bcc@example.com"],
        "headers": {"X-Shop": "{{payload.shop}}"},
    }
    made = await world.make_workflow(step("email", "One", **controls))
    path = f"/v2/workflows/{made['workflowId']}/step/one/preview"
    body = {"previewPayload": {"payload": {"shop": "berlin"}}}
    preview = (await world.api.post(path, json=body)).json()["result"]["preview"]
    integration = {"providerId": "svc-email", "channel": "email", "active": True}
    assert (await world.api.post("/v1/integrations", json=integration)).status_code == 201
    await world.trigger(ADA, payload={"shop": "berlin"})
    await world.work()

    (message,) = await world.messages()
    mail = (await world.api.get(f"/v1/messages/{message['_id']}")).json()["mail"]
    names = ("from", "senderName", "replyTo", "cc", "bcc", "headers")
    assert {name: mail[name] for name in names} == {name: preview[name] for name in names}
    assert preview["from"] == "berlin@example.com"
