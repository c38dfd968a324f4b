"""The pages of links in messages: what they show and change, on both databases."""

from typing import Any

import httpx
import pytest

from clarion.content.links import LinkPurpose, sign_link
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.ids import id_text
from clarion.preferences.unsubscribe.targets import LinkTarget, sign_target
from clarion.sending.suppressions.model import Suppression, SuppressionReason
from clarion.sending.suppressions.store import insert_suppressions
from clarion.vocabulary import Channel, StepType
from clarion.workflows.model import MainSwitch, PreferenceLayer
from tests.preferences.unsubscribe.conftest import Ada, LoadSecret
from tests.records import NOW, make_subscriber, make_workflow
from tests.support import Api, Site

PREFERENCES = "/v2/subscribers/ada/preferences"
CRITICAL = PreferenceLayer(all=MainSwitch(enabled=True, read_only=True))
ONE_CLICK = {"List-Unsubscribe": "One-Click"}
LIST_ROWS = sql("""
    SELECT workflow_id, channel, enabled, reason FROM preferences WHERE environment_id = :environment_id
    ORDER BY workflow_id, channel
""")


async def list_rows(database: Database, api: Api) -> list[tuple[str, bool, str | None]]:
    rows = await database.read(lambda db: db.fetch(LIST_ROWS, environment_id=api.environment.id))
    return [(row["channel"], bool(row["enabled"]), row["reason"]) for row in rows]


async def list_events(api: Api) -> list[dict[str, Any]]:
    endpoint = (await api.get("/v1/webhooks/endpoints")).json()[0]["_id"]
    return [one["payload"] for one in (await api.get(f"/v1/webhooks/endpoints/{endpoint}/deliveries")).json()["data"]]


async def suppress_number(database: Database, api: Api, digits: str) -> None:
    suppression = Suppression(
        environment_id=api.environment.id,
        channel=Channel.SMS,
        address=digits,
        reason=SuppressionReason.UNSUBSCRIBED,
        created_at=NOW,
    )
    await database.transaction(lambda db: insert_suppressions(db, [suppression]))


def unsubscribe(token: str) -> str:
    return f"/unsubscribe?token={token}"


def choose(token: str) -> str:
    return f"/preferences?token={token}"


async def test_opening_the_pages_changes_nothing(
    ada: Ada, browser: httpx.AsyncClient, database: Database, api: Api
) -> None:
    pages = [await browser.get(one(ada.token)) for one in (unsubscribe, choose) for _ in range(2)]

    assert [one.status_code for one in pages] == [200] * 4
    assert all("Weekly digest" in one.text for one in pages)
    assert await list_rows(database, api) == []


async def test_pages_are_protected_and_neither_stored_nor_indexed(ada: Ada, browser: httpx.AsyncClient) -> None:
    answers = [await browser.get(unsubscribe(ada.token)), await browser.get(choose("x"))]

    for answer in answers:
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-robots-tag"] == "noindex, nofollow"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; style-src 'sha256-")
        assert "<script" not in answer.text
        assert "://" not in answer.text


async def test_the_button_of_the_page_unsubscribes_and_subscribes_again(
    ada: Ada, browser: httpx.AsyncClient, database: Database, api: Api
) -> None:
    off = await browser.post(unsubscribe(ada.token), data={"action": "unsubscribe"})
    rows_off = await list_rows(database, api)
    shown = await browser.get(unsubscribe(ada.token))
    on = await browser.post(unsubscribe(ada.token), data={"action": "subscribe"})

    assert "You are unsubscribed" in off.text
    assert rows_off == [("email", False, "link")]
    assert "Subscribe again" in shown.text
    assert "You are subscribed" in on.text
    assert await list_rows(database, api) == [("email", True, "link")]


@pytest.mark.parametrize("encoding", ["urlencoded", "multipart"])
async def test_mail_programs_unsubscribe_with_one_request(
    ada: Ada, browser: httpx.AsyncClient, database: Database, api: Api, encoding: str
) -> None:
    body: dict[str, Any] = {"data": ONE_CLICK}
    if encoding == "multipart":
        body = {"files": {name: (None, value) for name, value in ONE_CLICK.items()}}

    answers = [await browser.post(unsubscribe(ada.token), **body) for _ in range(2)]

    assert [one.status_code for one in answers] == [200, 200]
    assert await list_rows(database, api) == [("email", False, "one_click")]


async def test_webhooks_and_answers_say_why_once(ada: Ada, browser: httpx.AsyncClient, api: Api) -> None:
    # No server listens on the port.
    await api.post("/v1/webhooks/endpoints", json={"url": "http://127.0.0.1:9/", "eventTypes": ["preference.updated"]})

    for _ in range(2):
        await browser.post(unsubscribe(ada.token), data=ONE_CLICK)
    (workflow,) = (await api.get(PREFERENCES)).json()["workflows"]
    await api.patch(PREFERENCES, json={"workflowId": "digest", "channels": {"email": False}})
    (changed,) = (await api.get(PREFERENCES)).json()["workflows"]

    assert workflow["overrides"] == [
        {"channel": "email", "source": "subscriber", "layer": "subscriber workflow", "reason": "one_click"}
    ]
    assert "reason" not in changed["overrides"][0]
    assert [one["data"].get("reason") for one in await list_events(api)] == [None, "one_click"]


@pytest.mark.parametrize(
    "body", [{}, {"action": "other"}, {"List-Unsubscribe": "no"}, {"action": ["subscribe", "unsubscribe"]}]
)
async def test_a_form_that_says_nothing_changes_nothing(
    ada: Ada, browser: httpx.AsyncClient, database: Database, api: Api, body: dict[str, Any]
) -> None:
    answer = await browser.post(unsubscribe(ada.token), data=body)
    raw = await browser.post(unsubscribe(ada.token), content=b"List-Unsubscribe=One-Click")
    broken = await browser.post(
        unsubscribe(ada.token), content=b"--", headers={"content-type": "multipart/form-data; boundary=x"}
    )

    assert [answer.status_code, raw.status_code, broken.status_code] == [400, 400, 400]
    assert await list_rows(database, api) == []


async def test_forms_that_take_much_work_are_refused(
    ada: Ada, browser: httpx.AsyncClient, database: Database, api: Api
) -> None:
    wish, choices = unsubscribe(ada.token), choose(ada.token)
    form = {"content-type": "application/x-www-form-urlencoded"}
    parts = {f"a{number}": (None, "b") for number in range(200)}

    large = [
        await browser.post(wish, content=b"action=unsubscribe&a=" + b"b" * 65_536, headers=form),
        await browser.post(choices, content=b"shown=a&a=" + b"b" * 131_072, headers=form),
    ]
    many = [
        await browser.post(wish, content=b"action=unsubscribe" + b"&a" * 4_000, headers=form),
        await browser.post(choices, content=b"shown=a" + b"&a" * 4_000, headers=form),
        await browser.post(wish, files={"action": (None, "unsubscribe"), **parts}),
    ]

    assert [one.status_code for one in large] == [413, 413]
    assert [one.status_code for one in many] == [400, 400, 400]
    assert await list_rows(database, api) == []


async def test_people_choose_for_each_workflow_and_channel(
    ada: Ada, browser: httpx.AsyncClient, database: Database, api: Api
) -> None:
    news = await make_workflow(database, api.environment, key="news", name="News", steps=[StepType.EMAIL])
    own = [f"{id_text(ada.workflow.id)}.{channel}" for channel in ("email", "sms")]
    later = await make_workflow(database, api.environment, key="later", name="Later", steps=[StepType.EMAIL])

    saved = await browser.post(
        choose(ada.token),
        data={"shown": [*own, f"{id_text(news.id)}.email"], "on": [own[1], f"{id_text(news.id)}.email"]},
    )

    assert "Your choices are saved." in saved.text
    assert await list_rows(database, api) == [("email", False, "link")]
    assert saved.text.count(" checked") == 3
    assert id_text(later.id) in saved.text


async def test_people_who_switch_sms_on_get_it_again_after_stop(
    ada: Ada, browser: httpx.AsyncClient, database: Database, api: Api, load_secret: LoadSecret
) -> None:
    await api.patch("/v2/subscribers/ada", json={"phone": "+44 1632 960000"})
    target = LinkTarget(ada.subscriber.id, ada.workflow.id, Channel.SMS)
    token = sign_target(await load_secret(api.environment), target)
    email, sms = (f"{id_text(ada.workflow.id)}.{channel}" for channel in ("email", "sms"))
    forms: list[tuple[str, dict[str, Any], int]] = [
        (unsubscribe(token), {"action": "unsubscribe"}, 1),
        (unsubscribe(ada.token), {"action": "subscribe"}, 1),
        (unsubscribe(token), {"action": "subscribe"}, 0),
        (choose(token), {"shown": [email, sms], "on": [email]}, 1),
        (choose(token), {"shown": [email, sms], "on": [sms]}, 0),
    ]

    for path, form, left in forms:
        await suppress_number(database, api, "441632960000")
        await browser.post(path, data=form)
        assert len((await api.get("/v1/suppressions")).json()["data"]) == left


async def test_critical_workflows_are_named_and_cannot_be_switched_off(
    browser: httpx.AsyncClient, database: Database, api: Api, load_secret: LoadSecret
) -> None:
    ada = await make_subscriber(database, api.environment, "ada")
    alarm = await make_workflow(
        database, api.environment, name="Alarm", steps=[StepType.EMAIL], default_preference=CRITICAL
    )
    token = sign_target(await load_secret(api.environment), LinkTarget(ada.id, alarm.id, Channel.EMAIL))
    name = f"{id_text(alarm.id)}.email"

    pages = [
        await browser.get(unsubscribe(token)),
        await browser.post(unsubscribe(token), data=ONE_CLICK),
        await browser.get(choose(token)),
        await browser.post(choose(token), data={"shown": [name]}),
    ]

    assert [one.status_code for one in pages] == [200] * 4
    assert all("Alarm" in one.text and "important" in one.text for one in pages)
    assert await list_rows(database, api) == []


async def test_tokens_that_are_not_of_this_link_are_refused(
    ada: Ada, browser: httpx.AsyncClient, database: Database, api: Api, site: Site, load_secret: LoadSecret
) -> None:
    secret, foreign = await load_secret(api.environment), await load_secret(site.production)
    target = LinkTarget(ada.subscriber.id, ada.workflow.id, Channel.EMAIL)
    data = target.subscriber_id + target.workflow_id
    tokens = [
        "",
        "x",
        ada.token[:-1],
        ada.token + "A",
        ada.token[:-2] + ("AA" if ada.token[-2:] != "AA" else "BB"),
        sign_link(secret, LinkPurpose.CLICK, data + b"\x02"),
        sign_link(secret, LinkPurpose.UNSUBSCRIBE, data),
        sign_link(secret, LinkPurpose.UNSUBSCRIBE, data + b"\x09"),
        sign_target(foreign, target),
    ]

    for token in tokens:
        for path in ("/unsubscribe", "/preferences"):
            answers = [
                await browser.get(path, params={"token": token}),
                await browser.post(path, params={"token": token}, data=ONE_CLICK),
            ]
            assert [one.status_code for one in answers] == [404, 404]
            assert all("This link is not valid" in one.text for one in answers)
    assert await list_rows(database, api) == []


async def test_links_about_what_is_deleted_say_so(ada: Ada, browser: httpx.AsyncClient, api: Api) -> None:
    await api.delete(f"/v2/workflows/{id_text(ada.workflow.id)}")
    without_workflow = [await browser.get(unsubscribe(ada.token)), await browser.get(choose(ada.token))]
    await api.delete("/v2/subscribers/ada")
    without_person = [await browser.get(unsubscribe(ada.token)), await browser.get(choose(ada.token))]

    assert [one.status_code for one in without_workflow] == [404, 200]
    assert [one.status_code for one in without_person] == [404, 404]


async def test_hostile_names_are_text(
    browser: httpx.AsyncClient, database: Database, api: Api, load_secret: LoadSecret
) -> None:
    name = "<script>alert(1)</script>\"'&{{ 1 | plus: 1 }}"
    ada = await make_subscriber(database, api.environment, "ada", locale='"><script>')
    workflow = await make_workflow(database, api.environment, name=name, steps=[StepType.EMAIL])
    token = sign_target(await load_secret(api.environment), LinkTarget(ada.id, workflow.id, Channel.EMAIL))

    pages = [
        await browser.get(unsubscribe(token)),
        await browser.get(choose(token)),
        await browser.post(unsubscribe(token), data=ONE_CLICK),
        await browser.get(unsubscribe("%22%3E%3Cscript%3E")),
    ]

    assert all("<script" not in one.text for one in pages)
    assert all("&lt;script&gt;alert(1)" in one.text and "{{ 1 | plus: 1 }}" in one.text for one in pages[:3])


async def test_the_page_speaks_the_language_of_the_person(
    browser: httpx.AsyncClient, database: Database, api: Api, load_secret: LoadSecret
) -> None:
    secret = await load_secret(api.environment)
    workflow = await make_workflow(database, api.environment, steps=[StepType.EMAIL])
    heads = []
    for locale, accepted in (("ar_EG", "de"), (None, "xx, fr;q=0.5, nl;q=0.9"), ("tlh", "")):
        person = await make_subscriber(database, api.environment, f"p-{locale}", locale=locale)
        token = sign_target(secret, LinkTarget(person.id, workflow.id, Channel.EMAIL))
        answer = await browser.get(unsubscribe(token), headers={"accept-language": accepted})
        heads.append(answer.text.split("\n")[1])

    assert heads == ['<html lang="ar" dir="rtl">', '<html lang="nl" dir="ltr">', '<html lang="en" dir="ltr">']


async def test_a_sample_says_that_it_is_one(browser: httpx.AsyncClient) -> None:
    answers = [await browser.get(unsubscribe("sample")), await browser.post(unsubscribe("sample"), data=ONE_CLICK)]

    assert [one.status_code for one in answers] == [200, 200]
    assert all("This is a sample" in one.text for one in answers)


async def test_requests_count_in_the_limit_of_the_environment(ada: Ada, browser: httpx.AsyncClient, api: Api) -> None:
    limits = {"limits": {"global": {"perSecond": 0.001, "burst": 3}}}
    environment = id_text(api.environment.id)
    assert (await api.patch(f"/v1/environments/{environment}", json=limits)).status_code == 200

    answers = [await browser.get(unsubscribe(ada.token)) for _ in range(4)]

    assert answers[-1].status_code == 429
    assert int(answers[-1].headers["retry-after"]) > 0
    assert "too many requests" in answers[-1].text
