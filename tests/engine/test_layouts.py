"""E-mails in their layouts: which one, in which version, and never with markup of a payload."""

import html
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clarion.clock import HOUR, SECOND
from clarion.content.email.compose import EditorType, LayoutSource, compile_email, render_email
from tests.content.layouts.support import mail, make_layout, save_body
from tests.engine.providers import ADA, account
from tests.engine.support import World, details

LATER = {"name": "Wait", "type": "delay", "controlValues": {"type": "regular", "amount": 1, "unit": "hours"}}


def frame(name: str) -> str:
    return f'<html lang="en" dir="ltr"><body><h1>{name}</h1>{{{{content}}}}</body></html>'


@pytest.fixture
async def shop(world: World) -> AsyncIterator[World]:
    """An environment with an account for mail and four layouts."""
    async with account(world, "mail"):
        for key in ("zero", "one", "two", "three"):
            await make_layout(world.api, key, frame(key))
        yield world


async def send(world: World, **fields: Any) -> str:
    """The content of the mail that a trigger leads to."""
    await world.trigger(ADA, payload={"name": "Ada"}, **fields)
    await world.work()
    return str((await world.messages())[-1]["content"])


async def test_a_mail_stands_in_the_layout_of_its_step(shop: World) -> None:
    await shop.make_workflow(mail("one", "<!doctype html><!-- x --><p>Hi {{payload.name}}</p>"))

    assert await send(shop) == '<html lang="en" dir="ltr"><body><h1>one</h1><p>Hi Ada</p></body></html>'
    (event,) = await shop.events()
    (job,) = event["jobs"]
    assert "Layout selected" in details(job)
    (selected,) = [one for one in job["executionDetails"] if one["detail"] == "Layout selected"]
    assert (selected["status"], '"layoutId":"one"' in selected["raw"]) == ("Pending", True)


async def test_without_a_layout_nothing_stands_around_it(shop: World) -> None:
    await shop.make_workflow(mail(None))

    assert await send(shop) == "<p>Hi Ada</p>"
    assert "Layout selected" not in details((await shop.events())[0]["jobs"][0])


OVERRIDES: list[tuple[dict[str, Any], str | None]] = [
    ({}, "one"),
    ({"steps": {"mail": {"layoutId": "two"}}, "channels": {"email": {"layoutId": "three"}}}, "two"),
    ({"steps": {"mail": {"layoutId": None}}, "channels": {"email": {"layoutId": "three"}}}, None),
    ({"steps": {"{_id}": {"layoutId": "two"}, "mail": {"layoutId": "three"}}}, "two"),
    ({"steps": {"other": {"layoutId": "two"}}}, "one"),
    ({"channels": {"email": {"layoutId": "three"}}, "layoutIdentifier": "two"}, "three"),
    ({"channels": {"email": {"layoutId": None}}, "layoutIdentifier": "two"}, None),
    ({"layoutIdentifier": "two", "email": {"layoutIdentifier": "three"}}, "two"),
    ({"layoutIdentifier": None}, None),
    ({"email": {"layoutIdentifier": "three"}}, "three"),
    ({"email": {"subject": "Other"}, "steps": {"mail": {"providers": {}}}, "channels": {}}, "one"),
]


@pytest.mark.parametrize(("overrides", "expected"), OVERRIDES)
async def test_the_strongest_override_chooses_the_layout(
    shop: World, overrides: dict[str, Any], expected: str | None
) -> None:
    made = await shop.make_workflow(mail("one"))
    steps = {key.replace("{_id}", made["steps"][0]["_id"]): one for key, one in overrides.get("steps", {}).items()}

    content = await send(shop, overrides=overrides | ({"steps": steps} if steps else {}))

    assert content == (frame(expected).replace("{{content}}", "<p>Hi Ada</p>") if expected else "<p>Hi Ada</p>")


async def test_a_layout_can_be_named_by_its_id_and_its_slug(shop: World) -> None:
    two = (await shop.api.get("/v2/layouts/two")).json()
    await shop.make_workflow(mail("one"))

    for name in (two["_id"], two["slug"]):
        assert "<h1>two</h1>" in await send(shop, overrides={"channels": {"email": {"layoutId": name}}})


async def test_an_unknown_layout_fails_the_step(shop: World, other_api: Any) -> None:
    await make_layout(other_api, "theirs")
    await shop.make_workflow(mail("one"))

    await shop.trigger(ADA, overrides={"channels": {"email": {"layoutId": "theirs"}}})
    await shop.work()

    (event,) = await shop.events()
    assert await shop.statuses() == [["failed"]]
    assert await shop.messages() == []
    assert "Layout not found" in details(event["jobs"][0])
    run_id = event["_id"]
    explained = (await shop.api.get(f"/v1/notifications/{run_id}/explain")).json()
    assert any("The layout 'theirs' did not exist." in one["summary"] for one in explained["decisions"])


async def test_what_is_no_name_of_a_layout_fails_the_step_with_its_path(shop: World) -> None:
    await shop.make_workflow(mail("one"))

    await shop.trigger(ADA, overrides={"channels": {"email": {"layoutId": 7}}})
    await shop.work()

    (event,) = await shop.events()
    assert "overrides.channels.email.layoutId" in event["jobs"][0]["executionDetails"][-1]["raw"]


async def test_a_run_uses_the_version_that_was_current_when_its_trigger_was_accepted(shop: World) -> None:
    await shop.make_workflow(LATER, mail("one"))
    await shop.trigger(ADA, payload={"name": "Ada"})
    await shop.work()
    shop.clock.move(SECOND)
    await save_body(shop.api, "one", frame("changed"), name="one")

    await shop.work(after=HOUR)
    await shop.trigger(ADA, payload={"name": "Ada"})
    await shop.work()
    await shop.work(after=HOUR)

    old, new = [one["content"] for one in await shop.messages()]
    assert ("<h1>one</h1>" in old, "<h1>changed</h1>" in new) == (True, True)


async def test_versions_of_one_moment_are_told_apart(shop: World) -> None:
    await shop.make_workflow(LATER, mail("one"))
    await shop.trigger(ADA, payload={"name": "Ada"})
    await save_body(shop.api, "one", frame("changed"), name="one")
    await shop.work()

    await shop.work(after=HOUR)

    assert "<h1>one</h1>" in (await shop.messages())[0]["content"]


async def test_a_layout_that_is_deleted_stays_for_runs_under_way(shop: World) -> None:
    await shop.make_workflow(LATER, mail("two"))
    await shop.trigger(ADA, payload={"name": "Ada"})
    await shop.work()
    shop.clock.move(SECOND)
    assert (await shop.api.delete("/v2/layouts/two")).status_code == 204
    shop.clock.move(SECOND)
    await make_layout(shop.api, "two", frame("another"))

    await shop.work(after=HOUR)
    assert "<h1>two</h1>" in (await shop.messages())[0]["content"]

    wanted = {"channels": {"email": {"layoutId": "two"}}}
    await shop.trigger(ADA, payload={"name": "Ada"}, overrides=wanted)
    await shop.work()
    await shop.work(after=HOUR)
    assert "<h1>another</h1>" in (await shop.messages())[1]["content"]


async def test_a_layout_without_a_body_leaves_the_mail_as_it_is(shop: World) -> None:
    await shop.api.put("/v2/layouts/one", json={"name": "one", "controlValues": None})
    await shop.make_workflow(mail("one"))

    assert await send(shop) == "<p>Hi Ada</p>"


async def test_overrides_that_are_not_read_are_told_of(shop: World) -> None:
    await shop.make_workflow(mail("one"))

    await send(shop, overrides={"channels": {"sms": {"layoutId": "two"}}, "email": {"layoutId": "two"}})

    (event,) = await shop.events()
    (ignored,) = [one for one in event["jobs"][0]["executionDetails"] if one["detail"] == "Overrides were ignored"]
    assert ("channels.sms.layoutId" in ignored["raw"], '"layoutId"' in ignored["raw"]) == (True, True)


HOSTILE = [
    "<script>alert(1)</script>",
    "{{content}}",
    "{% raw %}",
    "{{ env.SECRET }}",
    '"><img src=x onerror=alert(1)>',
    "</body></html><h1>",
    "<!-- ",
    "--> <b>",
    "&lt;b&gt;",
]


@pytest.mark.parametrize("text", HOSTILE)
async def test_a_payload_is_text_in_the_slot_and_around_it(shop: World, text: str) -> None:
    await save_body(
        shop.api, "one", '<html lang="en" dir="ltr"><body><h1>{{subscriber.lastName}}</h1>{{content}}</body></html>'
    )
    await shop.make_workflow(mail("one", "<p>{{payload.text}}</p>"))

    await shop.trigger(ADA | {"lastName": text}, payload={"text": text})
    await shop.work()

    (message,) = await shop.messages()
    shown = html.escape(text, quote=True).replace("&#x27;", "&#39;").replace("&quot;", "&#34;")
    assert message["content"] == f'<html lang="en" dir="ltr"><body><h1>{shown}</h1><p>{shown}</p></body></html>'


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=60) | st.sampled_from(HOSTILE), st.text(max_size=60) | st.sampled_from(HOSTILE))
def test_no_value_becomes_markup_or_a_template(inside: str, outside: str) -> None:
    layout = LayoutSource('<html lang="en" dir="ltr"><body><i>{{b}}</i>{{content}}</body></html>', EditorType.HTML)
    compiled = compile_email("<b>{{a}}</b>", EditorType.HTML, layout)

    rendered = render_email(compiled, {"a": inside, "b": outside})

    assert rendered.count("<") == 8
    start, end = '<html lang="en" dir="ltr"><body><i>', "</b></body></html>"
    assert rendered.startswith(start)
    assert rendered.endswith(end)
    around, within = rendered[len(start) : -len(end)].split("</i><b>")
    kept = [one.replace("\0", "") for one in (outside, inside)]
    assert [html.unescape(around), html.unescape(within)] == kept


async def test_a_simulation_shows_the_layout(shop: World) -> None:
    await shop.make_workflow(mail("one"))

    body = {"name": "welcome", "to": ADA, "payload": {"name": "Ada"}}
    response = await shop.api.post("/v1/simulate", json=body)

    (recipient,) = response.json()["recipients"]
    assert "<h1>one</h1><p>Hi Ada</p>" in recipient["messages"][0]["content"]
    assert any("The layout 'one' was used" in one["summary"] for one in recipient["decisions"])
