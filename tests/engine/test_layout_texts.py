"""A layout has texts of its own, beside those of the workflow, on both databases."""

from typing import Any

from tests.content.layouts.support import mail, make_layout
from tests.engine.providers import ADA, account
from tests.engine.support import World, step

FRAME = '<html lang="en" dir="ltr"><body><h1>{{t.title}}</h1>{{content}}<p>{{t.nothing}}</p></body></html>'


async def translate(world: World, kind: str, key: str, locale: str, content: dict[str, Any]) -> None:
    body = {"resourceId": key, "resourceType": kind, "locale": locale, "content": content}
    response = await world.api.post("/v2/translations", json=body)
    assert response.status_code == 200, response.text


async def make_mail(world: World) -> None:
    """A mail whose step and layout have a text of the same key."""
    await make_layout(world.api, "frame", FRAME)
    body = {"name": "Frame", "isTranslationEnabled": True}
    assert (await world.api.put("/v2/layouts/frame", json=body)).status_code == 200
    await world.make_workflow(mail("frame", "<p>{{t.title}}</p>"), isTranslationEnabled=True)
    await translate(world, "workflow", "welcome", "en_US", {"title": "The step"})
    await translate(world, "layout", "frame", "en_US", {"title": "The frame <b>{{payload.name}}</b>"})
    await translate(world, "layout", "frame", "de_DE", {"title": "Der Rahmen <b>{{payload.name}}</b>"})


async def test_step_and_layout_have_texts_of_their_own(world: World) -> None:
    async with account(world, "mail"):
        await make_mail(world)

        await world.trigger({**ADA, "locale": "de_AT"}, payload={"name": "{{t.title}}"})
        await world.work()

    content = str((await world.messages())[-1]["content"])
    assert "<h1>Der Rahmen &lt;b&gt;{{t.title}}&lt;/b&gt;</h1>" in content
    assert "<p>The step</p>" in content
    assert "<p>nothing</p>" in content
    assert "Translated texts were missing" in str(await world.events())


async def test_a_run_that_waits_has_the_texts_of_its_deleted_layout_in_the_language_of_the_person(world: World) -> None:
    async with account(world, "mail"):
        await make_layout(world.api, "default", body=None)
        await make_mail(world)
        wait = step("delay", type="regular", amount=1, unit="hours")
        await world.make_workflow(wait, mail("frame", "<p>Hi</p>"), key="later")
        await world.trigger({**ADA, "locale": "de_DE"}, name="later")
        await world.work()

        world.clock.move(1)
        assert (await world.api.delete("/v2/layouts/frame")).status_code == 204
        await make_layout(world.api, "frame", FRAME)
        await translate(world, "layout", "frame", "de_DE", {"title": "Another frame"})
        await world.work(after=3_600_000)

    (sent,) = await world.messages()
    assert "<h1>Der Rahmen <b></b></h1>" in str(sent["content"]).replace("&lt;", "<").replace("&gt;", ">")


async def test_texts_of_deleted_layouts_are_found_by_nobody(world: World) -> None:
    await make_layout(world.api, "default", body=None)
    await make_mail(world)

    assert (await world.api.delete("/v2/layouts/frame")).status_code == 204

    assert (await world.api.get("/v2/translations/layout/frame/de_DE")).status_code == 404
    assert (await world.api.get("/v2/translations/group/layout/frame")).status_code == 404
    listed = (await world.api.get("/v2/translations/list")).json()["data"]
    assert [one["resourceId"] for one in listed] == ["welcome"]
    assert (await world.api.get("/v2/translations/master-json?locale=de_DE")).json()["data"]["layouts"] == {}


async def test_previews_have_the_texts_of_the_layout(world: World) -> None:
    await make_mail(world)
    given: dict[str, Any] = {"subscriber": {"locale": "de_DE"}}
    step = (await world.api.get("/v2/workflows/welcome")).json()["steps"][0]

    framed = await world.api.post(
        f"/v2/workflows/welcome/step/{step['stepId']}/preview", json={"previewPayload": given}
    )
    alone = await world.api.post("/v2/layouts/frame/preview", json={"previewPayload": given})

    assert "Der Rahmen" in framed.json()["result"]["preview"]["body"]
    assert "The step" in framed.json()["result"]["preview"]["body"]
    assert framed.json()["missingTexts"] == ["nothing"]
    assert "Der Rahmen" in alone.json()["result"]["preview"]["body"]
    assert alone.json()["missingTexts"] == ["nothing"]


async def test_texts_of_layouts_are_exported_and_imported(world: World) -> None:
    await make_mail(world)
    exported = (await world.api.get("/v2/translations/master-json?locale=de_DE")).json()["data"]
    imported = await world.api.post(
        "/v2/translations/master-json",
        json={"locale": "fr_FR", "masterJson": {"layouts": {"frame": {"title": "Le cadre"}}}},
    )
    group = (await world.api.get("/v2/translations/group/layout/frame")).json()

    assert exported == {"workflows": {}, "layouts": {"frame": {"title": "Der Rahmen <b>{{payload.name}}</b>"}}}
    assert imported.json()["successful"] == ["frame"]
    assert group["locales"] == ["en_US", "de_DE", "fr_FR"]
