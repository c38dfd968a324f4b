"""Translated texts in messages: each person in their language, on both databases."""

from typing import Any

from tests.engine.support import World, in_app, step

LOCALES = ("en_US", "de_DE", "fr_FR", "es_ES", "it_IT", "pl_PL", "ja_JP", "ar_EG")


async def translate(world: World, **contents: dict[str, Any]) -> None:
    for locale, content in contents.items():
        body = {"resourceId": "welcome", "resourceType": "workflow", "locale": locale, "content": content}
        response = await world.api.post("/v2/translations", json=body)
        assert response.status_code == 200, response.text


async def make_people(world: World, **locales: str | None) -> None:
    people = [{"subscriberId": key, "locale": locale} for key, locale in locales.items()]
    response = await world.api.post("/v1/subscribers/bulk", json={"subscribers": people})
    assert not response.json()["failed"], response.text


async def details(world: World) -> list[list[tuple[str, Any]]]:
    """The details of the jobs of each run: text and raw."""
    listed = []
    for event in await world.events():
        whole = (await world.api.get(f"/v1/notifications/{event['_id']}")).json()
        found = [detail for job in whole["jobs"] for detail in job["executionDetails"]]
        listed.append([(one["detail"], one.get("raw")) for one in found])
    return listed


async def test_each_person_reads_their_language_and_each_key_falls_back(world: World) -> None:
    await world.make_workflow(in_app("{{t.hello}}, {{ t.bye | upcase }}"), isTranslationEnabled=True)
    await translate(
        world,
        en_US={"hello": "Hello {{payload.name}}", "bye": "bye"},
        de_DE={"hello": "Hallo {{payload.name}}"},
        fr_FR={"hello": "Salut {{payload.name}}", "bye": "au revoir"},
    )
    await make_people(world, ada="de-AT", bob="fr_FR", eve="zh_CN", joe=None)

    await world.trigger(["ada", "bob", "eve", "joe"], payload={"name": "{{t.bye}}"})
    await world.work()

    assert await world.feed("ada") == ["Hallo {{t.bye}}, BYE"]
    assert [(await world.feed(key))[0].split()[0] for key in ("ada", "bob", "eve", "joe")] == [
        "Hallo",
        "Salut",
        "Hello",
        "Hello",
    ]


async def test_a_missing_text_shows_its_key_and_leaves_a_warning(world: World) -> None:
    await world.make_workflow(in_app("{{t.hello}} {{t.nothing}}"), isTranslationEnabled=True)
    await translate(world, en_US={"hello": "Hello"})
    await make_people(world, ada="de_DE")

    await world.trigger()
    await world.work()
    explained = (await world.api.get(f"/v1/notifications/{(await world.events())[0]['_id']}/explain")).json()

    assert await world.feed() == ["Hello nothing"]
    found = dict((await details(world))[0])
    missing = found["Translated texts were missing, and their keys were shown"]
    assert "nothing" in str(missing)
    assert "de_DE" in str(found["Message created"])
    texts = str(explained)
    assert "Its texts are in en_US, for a person with de_DE" in texts
    assert "their keys were shown: nothing" in texts


async def test_texts_that_are_off_are_not_used(world: World) -> None:
    await world.make_workflow(in_app("{{t.hello}}"))
    await translate(world, en_US={"hello": "Hello"})

    await world.trigger()
    await world.work()

    assert await world.feed() == ["hello"]


async def test_changed_texts_are_used_from_then_on_also_by_runs_under_way(world: World) -> None:
    steps = [in_app("{{t.hello}}"), step("delay", type="regular", amount=1, unit="hours"), in_app("{{t.hello}}")]
    await world.make_workflow(*steps, isTranslationEnabled=True)
    await translate(world, en_US={"hello": "old"})
    await world.trigger()
    await world.work()

    await translate(world, en_US={"hello": "new"})
    await world.work(after=3_600_000)

    assert await world.feed() == ["old", "new"]


async def test_texts_that_are_switched_off_are_still_used_by_runs_under_way(world: World) -> None:
    steps = [step("delay", type="regular", amount=1, unit="hours"), in_app("{{t.hello}}")]
    await world.make_workflow(*steps, isTranslationEnabled=True)
    await translate(world, en_US={"hello": "Hello"}, de_DE={"hello": "Hallo"})
    await make_people(world, ada="de_DE", bob="de_DE")
    await world.trigger("ada")
    await world.work()

    world.clock.move(1)
    off = await world.api.patch("/v2/workflows/welcome", json={"isTranslationEnabled": False})
    assert off.json()["isTranslationEnabled"] is False
    await world.trigger("bob")
    await world.work()
    await translate(world, de_DE={"hello": "Servus"})
    await world.work(after=3_600_000)

    assert await world.feed("ada") == ["Servus"]
    assert await world.feed("bob") == ["hello"]


async def test_a_deleted_language_leaves_runs_under_way_with_the_default_one(world: World) -> None:
    steps = [step("delay", type="regular", amount=1, unit="hours"), in_app("{{t.hello}}")]
    await world.make_workflow(*steps, isTranslationEnabled=True)
    await translate(world, en_US={"hello": "Hello"}, de_DE={"hello": "Hallo"})
    await make_people(world, ada="de_DE")
    await world.trigger("ada")
    await world.work()

    assert (await world.api.delete("/v2/translations/workflow/welcome/de_DE")).status_code == 204
    await world.work(after=3_600_000)

    assert await world.feed("ada") == ["Hello"]


async def test_texts_in_a_circle_fail_the_step_with_the_reason(world: World) -> None:
    await world.make_workflow(in_app("{{t.a}}"), isTranslationEnabled=True)
    await translate(world, en_US={"a": "{{t.b}}", "b": "{{t.a}}"})

    await world.trigger()
    await world.work()

    assert (await world.statuses()) == [["failed"]]
    assert "in a circle: a → b → a" in str((await details(world))[0])


async def test_a_simulation_reads_the_language_of_the_person(world: World) -> None:
    await world.make_workflow(in_app("{{t.hello}}{{t.nothing}}"), isTranslationEnabled=True)
    await translate(world, en_US={"hello": "Hello"}, de_DE={"hello": "Hallo"})
    await make_people(world, ada="de_DE")

    answer = (await world.api.post("/v1/simulate", json={"name": "welcome", "to": "ada"})).json()

    (recipient,) = answer["recipients"]
    assert [one["content"] for one in recipient["messages"]] == ["Hallonothing"]
    assert "Its texts are in de_DE" in str(recipient["decisions"])
    assert "their keys were shown: nothing" in str(recipient["decisions"])


async def test_one_broadcast_reaches_people_of_eight_languages_each_in_theirs(world: World) -> None:
    count = 400
    await world.make_workflow(in_app("{{t.hello}} {{subscriber.firstName}}"), isTranslationEnabled=True)
    for locale in LOCALES:
        await translate(world, **{locale: {"hello": f"hello in {locale} from {{{{payload.name}}}}"}})
    people = [
        {"subscriberId": f"p{number}", "firstName": f"P{number}", "locale": LOCALES[number % len(LOCALES)]}
        for number in range(count)
    ]
    await world.api.post("/v1/subscribers/bulk", json={"subscribers": people})

    answer = await world.api.post("/v1/events/trigger/broadcast", json={"name": "welcome", "payload": {"name": "us"}})
    assert answer.status_code == 201, answer.text
    await world.work()

    for number in range(0, count, 7):
        locale = LOCALES[number % len(LOCALES)]
        assert await world.feed(f"p{number}") == [f"hello in {locale} from us P{number}"]
    messages = (await world.api.get("/v1/messages", params={"limit": 1})).json()
    assert messages["totalCount"] == count
