"""Mails with tracked links and images, from the trigger to what the API tells about them."""

import json
from typing import Any

import pytest

from clarion.ids import id_text
from clarion.tracking.recorder import TrackingRecorder
from tests.engine.providers import ADA, account
from tests.engine.support import World, details, step
from tests.providers.loopback import mail_server
from tests.support import Api
from tests.tracking.support import (
    LATER,
    MAIL,
    SHOP,
    SHOWN_SHOP,
    find_image,
    list_links,
    message,
    send,
    switch_on,
    visit,
)

CRITICAL: dict[str, Any] = {"preferences": {"user": {"all": {"enabled": True, "readOnly": True}}}}


async def test_nothing_is_tracked_unless_it_is_switched_on(world: World) -> None:
    async with account(world, "a") as first:
        await world.make_workflow(MAIL)

        html = await send(world, first)

    found = await message(world)
    assert html == found["content"]
    assert "/t/" not in html
    assert "tracking" not in found


async def test_a_click_leads_to_the_target_and_is_counted(world: World, recorder: TrackingRecorder) -> None:
    async with account(world, "a") as first:
        await switch_on(world)
        await world.make_workflow(MAIL)
        html = await send(world, first)
    (link,) = list_links(html)

    response = await visit(world, recorder, link)
    await visit(world, recorder, link)

    assert (response.status_code, response.headers["location"]) == (302, SHOP)
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["referrer-policy"] == "no-referrer"
    found = await message(world)
    assert found["tracking"] == {
        "openCount": 0,
        "clickCount": 2,
        "firstClickedAt": "2026-01-01T00:01:00.000Z",
        "machineCount": 0,
    }
    assert found["delivery"] == {"clicked": "2026-01-01T00:02:00.000Z"}


async def test_an_open_is_counted_and_known_to_later_steps(world: World, recorder: TrackingRecorder) -> None:
    later = step("email", name="More", subject="Again", body="<p>{{steps.email-step.read}}</p>")
    wait = step("delay", type="regular", amount=1, unit="hours")
    async with account(world, "a") as first:
        await switch_on(world)
        await world.make_workflow({**MAIL, "stepId": "email-step"}, wait, later)
        image = find_image(await send(world, first))

        response = await visit(world, recorder, image)
        found = await message(world)
        await world.work(after=3_600_000)

        assert first.bodies[-1]["html"].startswith("<p>true</p>")
    assert (response.status_code, response.headers["content-type"]) == (200, "image/gif")
    assert response.headers["cache-control"] == "no-store"
    assert response.content.startswith(b"GIF89a")
    assert found["tracking"]["openCount"] == 1
    (event,) = await world.events()
    assert "Message opened" in details(event["jobs"][0])


async def test_the_rest_of_the_mail_stays_as_it_was(world: World) -> None:
    async with account(world, "a") as first:
        await switch_on(world)
        await world.make_workflow(MAIL)
        html = await send(world, first)
        text = first.bodies[-1]["text"]

    (link,) = list_links(html)
    image = html[html.index("<img") : html.index("</body>")]
    before = html.replace(image, "").replace(f"http://clarion.test{link}", SHOP.replace("&", "&amp;"))
    assert before == (await message(world))["content"]
    assert SHOP in text
    assert "/t/" not in text


@pytest.mark.parametrize(
    ("tracking", "links", "images"),
    [({"opens": False}, 1, 0), ({"clicks": False}, 0, 1), ({"opens": False, "clicks": False}, 0, 0), (None, 1, 1)],
)
async def test_a_workflow_decides_otherwise(world: World, tracking: Any, links: int, images: int) -> None:
    async with account(world, "a") as first:
        await switch_on(world)
        made = await world.make_workflow(MAIL, tracking=tracking)
        html = await send(world, first)

    assert made.get("tracking") == tracking
    assert (html.count("/t/c/"), html.count("/t/o/")) == (links, images)


async def test_a_workflow_tracks_alone(world: World) -> None:
    async with account(world, "a") as first:
        await world.make_workflow(MAIL, tracking={"clicks": True})
        html = await send(world, first)

    assert (html.count("/t/c/"), html.count("/t/o/")) == (1, 0)


async def test_a_critical_workflow_is_tracked_only_if_it_says_so(world: World) -> None:
    async with account(world, "a") as first:
        await switch_on(world)
        await world.make_workflow(MAIL, **CRITICAL)
        await world.make_workflow(MAIL, key="other", tracking={"opens": True}, **CRITICAL)

        silent, tracked = await send(world, first), await send(world, first, name="other")

    assert "/t/" not in silent
    assert (tracked.count("/t/c/"), tracked.count("/t/o/")) == (0, 1)


@pytest.mark.parametrize(("value", "is_tracked"), [(False, False), ("no", False), (True, True), ("1Z999", True)])
async def test_a_person_says_no(world: World, value: Any, *, is_tracked: bool) -> None:
    async with account(world, "a") as first:
        await switch_on(world)
        await world.make_workflow(MAIL)

        html = await send(world, first, {**ADA, "data": {"tracking": value}})

    assert ("/t/" in html) is is_tracked


@pytest.mark.parametrize("header", [{"sec_gpc": "1"}, {"dnt": "1"}])
async def test_a_browser_says_no(world: World, recorder: TrackingRecorder, header: dict[str, str]) -> None:
    async with account(world, "a") as first:
        await switch_on(world)
        await world.make_workflow(MAIL)
        (link,) = list_links(await send(world, first))

    response = await visit(world, recorder, link, **header)

    assert response.headers["location"] == SHOP
    assert (await message(world))["tracking"]["clickCount"] == 0


async def test_programs_are_noted_and_not_counted(world: World, recorder: TrackingRecorder) -> None:
    async with account(world, "a") as first:
        await switch_on(world)
        await world.make_workflow(MAIL)
        html = await send(world, first)
    (link,), image = list_links(html), find_image(html)

    probe = await visit(world, recorder, link, method="HEAD")
    await visit(world, recorder, image, user_agent="Mozilla/5.0")

    assert (probe.status_code, probe.headers["location"]) == (302, SHOP)
    found = await message(world)
    assert found["tracking"] == {"openCount": 0, "clickCount": 0, "machineCount": 2}
    assert "delivery" not in found or found["delivery"] == {}
    (event,) = await world.events()
    noted = event["jobs"][0]["executionDetails"][-2:]
    assert [one["detail"] for one in noted] == [
        "Link followed by a program, not counted",
        "Message loaded by a program, not counted as opened",
    ]


async def test_a_click_right_after_the_mail_was_sent_is_a_scanner(world: World, recorder: TrackingRecorder) -> None:
    async with account(world, "a") as first:
        await switch_on(world)
        await world.make_workflow(MAIL)
        (link,) = list_links(await send(world, first))
    world.clock.move(-LATER)

    await visit(world, recorder, link)

    assert (await message(world))["tracking"]["machineCount"] == 1


async def test_webhooks_tell_of_people_and_not_of_programs(world: World, recorder: TrackingRecorder) -> None:
    hook = {"url": "http://127.0.0.1:9/hook", "eventTypes": ["message.opened", "message.clicked"]}
    made = (await world.api.post("/v1/webhooks/endpoints", json=hook)).json()
    async with account(world, "a") as first:
        await switch_on(world)
        await world.make_workflow(MAIL)
        html = await send(world, first)
    (link,), image = list_links(html), find_image(html)

    await visit(world, recorder, image, user_agent="curl/8.5.0")
    await visit(world, recorder, image)
    await visit(world, recorder, link)

    path = f"/v1/webhooks/endpoints/{made['_id']}/deliveries"
    sent = (await world.api.get(path)).json()["data"]
    assert sorted(one["type"] for one in sent) == ["message.clicked", "message.opened"]
    (click,) = [one["payload"]["data"] for one in sent if one["type"] == "message.clicked"]
    assert click["link"] == {"url": SHOWN_SHOP, "position": 1}
    assert click["subscriberId"] == "ada"


async def test_each_link_is_told_by_its_position_and_without_its_secrets(
    world: World, recorder: TrackingRecorder
) -> None:
    hook = {"url": "http://127.0.0.1:9/hook", "eventTypes": ["message.clicked"]}
    made = (await world.api.post("/v1/webhooks/endpoints", json=hook)).json()
    body = '<a href="https://a.example/in?token=abc">In</a><a href="https://a.example/in?token=abc">Again</a>'
    async with account(world, "a") as first:
        await switch_on(world)
        await world.make_workflow(step("email", subject="Hi", body=body))
        one, other = list_links(await send(world, first))

    answer = await visit(world, recorder, other)
    await visit(world, recorder, one)

    assert answer.headers["location"] == "https://a.example/in?token=abc"
    sent = (await world.api.get(f"/v1/webhooks/endpoints/{made['_id']}/deliveries")).json()["data"]
    links = [click["payload"]["data"]["link"] for click in sent]
    url = "https://a.example/in?token=…"
    assert sorted(link["position"] for link in links) == [1, 2]
    assert {link["url"] for link in links} == {url}
    (event,) = await world.events()
    told = (await world.api.get(f"/v1/notifications/{event['_id']}/explain")).text
    assert f"Somebody followed link 2 of the message: {url}." in told
    assert "token=abc" not in told


async def test_explain_says_what_people_and_programs_did(world: World, recorder: TrackingRecorder) -> None:
    async with account(world, "a") as first:
        await switch_on(world)
        await world.make_workflow(MAIL)
        html = await send(world, first)
    (link,), image = list_links(html), find_image(html)
    await visit(world, recorder, image, user_agent="curl/8.5.0")
    await visit(world, recorder, link)
    (event,) = await world.events()

    told = (await world.api.get(f"/v1/notifications/{event['_id']}/explain")).text

    assert f"Somebody followed link 1 of the message: {SHOWN_SHOP}." in told
    assert "a program loaded the message" in told


async def test_a_mail_over_smtp_has_tracked_links_that_a_person_can_follow(
    world: World, recorder: TrackingRecorder
) -> None:
    async with mail_server() as server:
        credentials = {"host": "127.0.0.1", "port": str(server.port), "from": "shop@shop.example", "ignoreTls": True}
        body = {"providerId": "nodemailer", "channel": "email", "active": True, "credentials": credentials}
        assert (await world.api.post("/v1/integrations", json=body)).status_code == 201
        await switch_on(world)
        await world.make_workflow(MAIL)
        await world.trigger(ADA)
        await world.work()
        html = server.last_mail().get_body(("html",))
        text = server.last_mail().get_body(("plain",))

    assert html is not None
    assert text is not None
    (link,) = list_links(html.get_content())
    assert (await visit(world, recorder, link)).headers["location"] == SHOP
    assert "/t/" not in text.get_content()


async def test_a_promotion_takes_what_a_workflow_tracks(world: World, other_api: Api) -> None:
    await world.make_workflow(MAIL, tracking={"opens": True})

    path = f"/v2/environments/{id_text(other_api.environment.id)}/publish"
    response = await world.api.post(path, json={})

    assert response.status_code == 200, response.text
    assert (await other_api.get("/v2/workflows/welcome")).json()["tracking"] == {"opens": True}


async def test_the_audit_log_has_both_switches(world: World) -> None:
    await switch_on(world)
    await world.make_workflow(MAIL, tracking={"opens": False})
    await world.api.patch("/v2/workflows/welcome", json={"tracking": None})

    entries = (await world.api.get("/v1/audit-log")).json()["data"]

    changes = [
        (one["action"], one["before"]["tracking"], one["after"]["tracking"]) for one in entries if "before" in one
    ]
    assert changes == [
        ("workflow.update", {"opens": False}, None),
        ("environment.update", {}, {"opens": True, "clicks": True}),
    ]


async def test_every_attempt_sends_the_same_mail(world: World) -> None:
    async with account(world, "a") as first:
        await switch_on(world)
        await world.make_workflow(MAIL)
        first.break_down()
        await world.trigger(ADA)
        await world.work()
        await world.work(after=LATER)
        first.come_back()
        await world.work(after=20 * LATER)

    bodies = [json.dumps(one) for one in first.bodies]
    assert len(bodies) > 1
    assert "/t/c/" in bodies[0]
    assert len(set(bodies)) == 1
