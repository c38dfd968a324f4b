"""Translated texts in messages: each person in their language, on both databases."""

import os
import re
from typing import Any

from tests.engine.providers import account
from tests.engine.support import World, in_app, step

MAILS = int(os.environ.get("CLARION_LANGUAGE_MAILS", "200"))
"""People of one broadcast; 10,000 take some minutes."""
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
    assert "Its texts are in en_US (the default language, where there are none in de_DE)." in texts
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
    assert "Its texts are in de_DE (the language of the person)." in str(recipient["decisions"])
    assert "their keys were shown: nothing" in str(recipient["decisions"])


async def test_it_is_told_which_language_was_taken_and_why(world: World) -> None:
    await world.make_workflow(in_app("{{t.hello}} {{t.bye}}"), isTranslationEnabled=True)
    await translate(world, en_US={"hello": "Hello", "bye": "Bye"}, de_DE={"hello": "Hallo"})
    await make_people(world, ada="de-AT", bob=None)

    decisions = {}
    for key in ("ada", "bob"):
        answer = (await world.api.post("/v1/simulate", json={"name": "welcome", "to": key})).json()
        decisions[key] = str(answer["recipients"][0]["decisions"])

    reasons = "de_DE (the same language as de-AT), en_US (the default language, where there are none in de-AT)."
    assert reasons in decisions["ada"]
    assert "en_US (the default language, because the person has none)." in decisions["bob"]


async def test_one_broadcast_mails_people_of_eight_languages_each_in_theirs(world: World) -> None:
    mail = step("email", subject="{{t.subject}}", body="<p>{{t.hello}} {{subscriber.firstName}}</p>")
    await world.make_workflow(mail, isTranslationEnabled=True)
    for locale in LOCALES:
        texts = {"subject": f"subject in {locale}", "hello": f"hello in {locale} from {{{{payload.name}}}}"}
        await translate(world, **{locale: texts})
    for start in range(0, MAILS, 500):
        await make_readers(world, range(start, min(start + 500, MAILS)))

    async with account(world, "mail") as sent:
        answer = await world.api.post(
            "/v1/events/trigger/broadcast", json={"name": "welcome", "payload": {"name": "us"}}
        )
        assert answer.status_code == 201, answer.text
        await world.work()

    assert sorted(
        (mail["to"][0], mail["subject"], re.sub("<[^>]*>", "", mail["html"])) for mail in sent.bodies
    ) == sorted(
        (f"p{number}@example.com", f"subject in {locale}", f"hello in {locale} from us P{number}")
        for number in range(MAILS)
        for locale in [LOCALES[number % len(LOCALES)]]
    )


async def make_readers(world: World, numbers: range) -> None:
    people = [
        {
            "subscriberId": f"p{number}",
            "firstName": f"P{number}",
            "email": f"p{number}@example.com",
            "locale": LOCALES[number % len(LOCALES)],
        }
        for number in numbers
    ]
    response = await world.api.post("/v1/subscribers/bulk", json={"subscribers": people})
    assert not response.json()["failed"], response.text
