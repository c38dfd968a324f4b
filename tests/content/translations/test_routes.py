"""Translations through HTTP, on both databases."""

from typing import Any

import pytest

from tests.support import Api, MakeApi, Site
from tests.workflows.support import make_workflow, step

ENGLISH: dict[str, Any] = {"welcome": {"title": "Hello {{payload.name}}"}, "line": 'It\'s "new"\nand good'}


async def put(api: Api, locale: str = "en_US", content: dict[str, Any] | None = None, **fields: Any) -> Any:
    body = {"resourceId": "order-shipped", "resourceType": "workflow", "locale": locale, "content": content or ENGLISH}
    return await api.post("/v2/translations", json={**body, **fields})


async def set_languages(api: Api, *targets: str, default: str = "en_US") -> None:
    body = {"defaultLocale": default, "targetLocales": list(targets)}
    response = await api.patch("/v1/organizations/settings", json=body)
    assert response.status_code == 200, response.text


async def test_a_translation_is_made_read_replaced_and_deleted(api: Api) -> None:
    made = await make_workflow(api, isTranslationEnabled=True)
    path = "/v2/translations/workflow/order-shipped/en_US"

    created = await put(api, "en-us")
    read = await api.get(path)
    by_slug = await api.get(f"/v2/translations/workflow/{made['slug']}/en-US")
    replaced = await put(api, content={"line": "new"})
    deleted = await api.delete(path)

    assert created.status_code == 200, created.text
    assert created.json() == read.json() == by_slug.json()
    assert created.json()["content"] == ENGLISH
    assert (created.json()["resourceId"], created.json()["locale"]) == ("order-shipped", "en_US")
    assert replaced.json()["content"] == {"line": "new"}
    assert "Clarion-Warnings" not in created.headers
    assert deleted.status_code == 204
    assert (await api.get(path)).status_code == (await api.delete(path)).status_code == 404


@pytest.mark.parametrize("locale", ["en", "english", "en_USA", "", "../..", "en_US.json"])
async def test_a_locale_needs_language_and_region(api: Api, locale: str) -> None:
    await make_workflow(api)
    refused = await put(api, locale)
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["locale"])
    if locale and "/" not in locale:
        assert (await api.get(f"/v2/translations/workflow/order-shipped/{locale}")).status_code == 400


async def test_texts_that_cannot_be_used_are_refused_by_their_keys(api: Api) -> None:
    await make_workflow(api)
    refused = await put(api, content={"a": 1, "b": {"c": "{{ x | nosuch }}"}, "good": "x"})
    assert refused.status_code == 422
    assert set(refused.json()["errors"]) == {"content.a", "content.b.c"}


async def test_an_unknown_resource_is_not_found(api: Api) -> None:
    assert (await put(api, resourceId="nothing")).status_code == 404
    assert (await put(api, resourceType="layout")).status_code == 404
    assert (await put(api, resourceType="step")).status_code == 422
    assert (await api.get("/v2/translations/step/x/en_US")).status_code == 422
    assert (await api.get("/v2/translations/group/workflow/nothing")).status_code == 404


async def test_switching_off_keeps_the_texts_and_writing_then_warns(api: Api) -> None:
    await make_workflow(api, isTranslationEnabled=True)
    await put(api)
    path = "/v2/workflows/order-shipped"

    # What the published client sends with every update.
    off = await api.put(path, json={"name": "Order shipped", "steps": [step()], "isTranslationEnabled": False})
    group = await api.get("/v2/translations/group/workflow/order-shipped")
    unused = await put(api, "de_DE")
    on = await api.patch(path, json={"isTranslationEnabled": True})
    listed = (await api.get("/v2/workflows")).json()["workflows"]
    shown = (await api.get("/v2/translations/group/workflow/order-shipped")).json()

    assert off.json()["isTranslationEnabled"] is False
    assert group.status_code == 404
    assert "isTranslationEnabled is false" in unused.headers["Clarion-Warnings"]
    assert on.json()["isTranslationEnabled"] is True
    assert [one["isTranslationEnabled"] for one in listed] == [True]
    assert shown["locales"] == ["en_US", "de_DE"]


async def test_a_group_tells_its_languages_and_which_are_outdated(api: Api) -> None:
    await make_workflow(api, isTranslationEnabled=True)
    path = "/v2/translations/group/workflow/order-shipped"
    await put(api, content={"a": "A", "b": "B"})
    before = (await api.get(path)).json()
    await set_languages(api, "de_DE", "fr_FR")
    await put(api, "de_DE", {"a": "Ä"})
    await put(api, "it_IT", {"a": "à"})
    outdated = (await api.get(path)).json()
    await put(api, "de_DE", {"b": "B", "a": "Ä"})
    await put(api, "fr_FR", {"b": "b", "a": "a"})
    current = (await api.get(path)).json()

    assert (before["resourceName"], before["locales"]) == ("Order shipped", ["en_US"])
    assert "outdatedLocales" not in before
    assert outdated["locales"] == ["en_US", "de_DE", "fr_FR", "it_IT"]
    assert outdated["outdatedLocales"] == ["de_DE", "fr_FR"]
    assert "outdatedLocales" not in current


async def test_deleting_the_group_switches_off_for_good(api: Api) -> None:
    await make_workflow(api, isTranslationEnabled=True)
    await put(api)

    assert (await api.delete("/v2/translations/workflow/order-shipped")).status_code == 204
    assert (await api.delete("/v2/translations/workflow/order-shipped")).status_code == 404
    assert (await api.get("/v2/workflows/order-shipped")).json()["isTranslationEnabled"] is False
    assert (await api.get("/v2/translations/workflow/order-shipped/en_US")).status_code == 404


async def test_groups_are_listed_and_searched(api: Api) -> None:
    for key in ("alpha", "beta", "gamma"):
        await make_workflow(api, key, isTranslationEnabled=key != "gamma")
    page = (await api.get("/v2/translations/list", params={"limit": 1, "offset": 1})).json()
    found = (await api.get("/v2/translations/list", params={"query": "ALP"})).json()

    assert (page["total"], [one["resourceId"] for one in page["data"]]) == (2, ["beta"])
    assert [one["resourceId"] for one in found["data"]] == ["alpha"]


async def test_a_copy_has_the_translations_and_goes_its_own_way(api: Api) -> None:
    await make_workflow(api, isTranslationEnabled=True)
    await put(api)
    copied = await api.post("/v2/workflows/order-shipped/duplicate", json={"workflowId": "copy"})
    await put(api, content={"line": "changed"})

    assert copied.json()["isTranslationEnabled"] is True
    assert (await api.get("/v2/translations/workflow/copy/en_US")).json()["content"] == ENGLISH


async def test_a_deleted_workflow_has_no_translations(api: Api) -> None:
    await make_workflow(api, isTranslationEnabled=True)
    await put(api)
    await api.delete("/v2/workflows/order-shipped")

    assert (await api.get("/v2/translations/list")).json()["total"] == 0
    assert (await api.get("/v2/translations/master-json")).json()["data"]["workflows"] == {}
    assert (await put(api)).status_code == 404


async def test_all_languages_of_a_resource_together_are_limited(api: Api) -> None:
    await make_workflow(api, isTranslationEnabled=True)
    large = {f"text-{number}": "x" * 12_000 for number in range(20)}
    answers = [
        await put(api, f"{language}_XX", large) for language in ("aa", "ab", "ac", "ad", "ae", "af", "ag", "ah", "ai")
    ]

    assert [one.status_code for one in answers] == [200] * 8 + [422]
    assert "of all languages together" in answers[-1].text
    assert (await put(api, "aa_XX", large)).status_code == 200


async def test_missing_texts_are_issues_of_the_steps(api: Api) -> None:
    body = "{{t.welcome.title}} {{t.welcome.titel}} {{ 2 | plural: 't.count' }}{{t[payload.key]}}"
    steps = [step(controlValues={"subject": "{{t.line}}", "body": body})]
    off = await make_workflow(api, steps=steps)
    await api.patch("/v2/workflows/order-shipped", json={"isTranslationEnabled": True})
    await put(api)
    await put(api, "de_DE", {"welcome.titel": "Hallo", "count": {"one": "1", "other": "n"}})
    on = (await api.get("/v2/workflows/order-shipped")).json()
    of_step = (await api.get(f"/v2/workflows/order-shipped/steps/{on['steps'][0]['stepId']}")).json()

    messages = [issue["message"] for issue in off["steps"][0]["issues"]["controls"]["subject"]]
    assert messages == ["'t.line' can never have a value: translations are off; set isTranslationEnabled to true"]
    issues = on["steps"][0]["issues"]["controls"]
    missing = "can never have a value: there is no text for it in en_US, the default language"
    assert [issue["message"] for issue in issues["body"]] == [
        f"'t.welcome.titel' {missing}; did you mean 'welcome.title'?",
        f"'t.count' {missing}",
    ]
    assert "subject" not in issues
    assert of_step["issues"] == on["steps"][0]["issues"]


async def test_a_preview_is_in_the_language_of_the_person_and_names_what_is_missing(api: Api) -> None:
    controls = {"subject": "{{t.line}}", "body": "{{t.welcome.title}}{{t.nothing}}"}
    await make_workflow(api, steps=[step(stepId="one", controlValues=controls)], isTranslationEnabled=True)
    await put(api, content={"welcome.title": "Hello {{payload.name}}", "line": "News"})
    await put(api, "de_DE", {"welcome.title": "Hallo {{payload.name}}"})
    given = {"payload": {"name": "{{t.line}}"}, "subscriber": {"locale": "de-AT"}}

    saved = await api.post("/v2/workflows/order-shipped/step/one/preview", json={"previewPayload": given})
    unsaved = await api.post(
        "/v1/workflows/steps/preview",
        json={"type": "in_app", "controlValues": controls, "previewPayload": given, "workflowId": "order-shipped"},
    )
    odd = await api.post(
        "/v2/workflows/order-shipped/step/one/preview", json={"previewPayload": {"subscriber": {"locale": {"a": []}}}}
    )

    for answer in (saved, unsaved):
        shown = answer.json()
        assert shown["result"]["preview"] == {"subject": "News", "body": "Hallo {{t.line}}nothing"}, answer.text
        assert shown["missingTexts"] == ["nothing"]
    assert odd.json()["result"]["preview"]["body"] == "Hello nothing"


async def test_promotion_brings_the_translations(api: Api, make_api: MakeApi, site: Site) -> None:
    other = await make_api(site.production)
    await make_workflow(api, isTranslationEnabled=True)
    await put(api)
    await make_workflow(other, isTranslationEnabled=False)
    await put(other, "fr_FR", {"line": "vieux"})
    where = f"/v2/environments/{(await other.get('/v1/environments/me')).json()['_id']}"

    diff = (
        await api.post(
            f"{where}/diff", json={"resources": [{"resourceType": "workflow", "resourceId": "order-shipped"}]}
        )
    ).json()
    published = await api.post(f"{where}/publish")
    again = (await api.post(f"{where}/diff")).json()

    changed = diff["resources"][0]["changes"][0]["diffs"]
    assert changed["new"]["isTranslationEnabled"] is True
    assert changed["new"]["translations.en_US.welcome.title"] == ENGLISH["welcome"]["title"]
    assert changed["previous"]["translations.fr_FR.line"] == "vieux"
    assert published.status_code == 200, published.text
    assert (await other.get("/v2/translations/workflow/order-shipped/en_US")).json()["content"] == ENGLISH
    assert (await other.get("/v2/translations/workflow/order-shipped/fr_FR")).status_code == 404
    assert again["summary"]["hasChanges"] is False


async def test_changes_are_in_the_audit_log(api: Api) -> None:
    await make_workflow(api, isTranslationEnabled=True)
    await put(api)
    await put(api, content={**ENGLISH, "line": "new"})
    await put(api, content={**ENGLISH, "line": "new"})
    await api.delete("/v2/translations/workflow/order-shipped/en_US")
    entries = (await api.get("/v1/audit-log", params={"targetType": "translation"})).json()["data"]

    assert [one["action"] for one in reversed(entries)] == [
        "translation.switch",
        "translation.update",
        "translation.update",
        "translation.delete",
    ]
    assert entries[1]["target"]["id"] == "workflow/order-shipped/en_US"
    assert entries[1]["before"] == {"content": {"line": ENGLISH["line"]}}
    assert entries[1]["after"] == {"content": {"line": "new"}}
