"""Texts that a layout refers to and that are missing, on both databases."""

from typing import Any

from tests.content.layouts.support import make_layout, save_body
from tests.content.translations.test_routes import set_languages
from tests.support import Api

BODY = "<html><body>{{t.title}}{{content}}{{ 2 | plural: 't.items' }}</body></html>"


async def put_texts(api: Api, locale: str, content: dict[str, Any]) -> None:
    body = {"resourceType": "layout", "resourceId": "newsletter", "locale": locale, "content": content}
    assert (await api.post("/v2/translations", json=body)).status_code == 200


async def list_issues(api: Api) -> list[str]:
    layout = (await api.get("/v2/layouts/newsletter")).json()
    return [one["message"] for one in layout.get("issues", {}).get("controls", {}).get("email.body", [])]


async def test_a_saved_layout_tells_the_texts_that_the_default_language_lacks(api: Api) -> None:
    await make_layout(api, body=None, isTranslationEnabled=True)
    await put_texts(api, "en_US", {"titel": "The shop"})
    await put_texts(api, "de_DE", {"title": "Der Laden", "items": "{{count}} Dinge"})

    saved = await save_body(api, "newsletter", BODY)

    first, second = saved["issues"]["controls"]["email.body"]
    assert first["issueType"] == "ILLEGAL_VARIABLE_IN_CONTROL_VALUE"
    assert first["message"] == (
        "'t.title' can never have a value: "
        "there is no text for it in en_US, the default language; did you mean 'titel'?"
    )
    assert "'t.items' can never have a value" in second["message"]
    assert [first["message"], second["message"]] == await list_issues(api)


async def test_a_layout_whose_translations_are_off_tells_that(api: Api) -> None:
    await make_layout(api, body=BODY)
    await put_texts(api, "en_US", {"title": "The shop"})

    assert await list_issues(api) == [
        "'t.title' can never have a value: translations are off; set isTranslationEnabled to true"
    ]


async def test_the_issues_follow_the_texts_and_the_default_language(api: Api) -> None:
    await make_layout(api, body=BODY, isTranslationEnabled=True)
    await put_texts(api, "en_US", {"title": "The shop", "items": "{{count}} things"})
    complete = await list_issues(api)
    await set_languages(api, default="fr_FR")
    other = await list_issues(api)
    await set_languages(api, default="en_US")
    await api.delete("/v2/translations/layout/newsletter/en_US")

    assert complete == []
    assert ["in fr_FR" in one for one in other] == [True, True]
    assert ["in en_US" in one for one in await list_issues(api)] == [True, True]


async def test_a_layout_without_texts_has_no_issues_and_lists_have_none(api: Api) -> None:
    assert "issues" not in await make_layout(api)
    await make_layout(api, "other", BODY)

    listed = (await api.get("/v2/layouts")).json()["layouts"]

    assert ["issues" in one for one in listed] == [False, False]
