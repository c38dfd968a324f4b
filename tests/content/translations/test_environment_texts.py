"""The texts of an environment in all languages as one file, on both databases."""

import json
from functools import partial
from typing import Any

import pytest

from clarion.audit.model import SERVICE, Author
from clarion.clock import Millis
from clarion.content.translations.environment_texts import MAX_EXPORT, MAX_TRANSLATIONS, apply_import, prepare_import
from clarion.content.translations.model import MAX_TEXT
from clarion.content.translations.wire import EnvironmentTexts, LanguageTexts
from clarion.db.port import Database
from clarion.errors import Invalid
from tests.content.layouts.support import make_layout
from tests.content.translations.test_routes import put
from tests.support import Api
from tests.workflows.support import make_workflow

EXPORT = "/v2/translations/export"
IMPORT = "/v2/translations/import"
NOW = Millis(1_767_225_600_000)


async def make_texts(api: Api) -> dict[str, Any]:
    """A workflow and a layout with texts in two languages; returns the export."""
    await make_workflow(api, isTranslationEnabled=True)
    await make_layout(api, "frame", body=None)
    await put(api, "en_US", content={"hi": "Hi", "n": {"one": "{{count}} file", "other": "{{count}} files"}})
    await put(api, "ar_EG", content={"a": {"b": 'مرحبا "{{payload.name}}"\n'}, "a.c": ""})
    frame = {"resourceType": "layout", "resourceId": "frame", "locale": "de_DE", "content": {"fuß": "Grüße 👋"}}
    assert (await api.post("/v2/translations", json=frame)).status_code == 200
    return await export(api)


async def export(api: Api) -> dict[str, Any]:
    response = await api.get(EXPORT)
    assert response.status_code == 200, response.text
    exported: dict[str, Any] = response.json()
    return exported


async def test_the_export_has_each_language_of_each_workflow_and_layout(api: Api) -> None:
    exported = await make_texts(api)

    assert list(exported["locales"]) == ["ar_EG", "de_DE", "en_US"]
    assert exported["locales"]["de_DE"] == {"workflows": {}, "layouts": {"frame": {"fuß": "Grüße 👋"}}}
    assert exported["locales"]["ar_EG"]["workflows"] == {
        "order-shipped": {"a": {"b": 'مرحبا "{{payload.name}}"\n'}, "a.c": ""}
    }


async def test_what_is_exported_is_imported_unchanged_here_and_elsewhere(api: Api, other_api: Api) -> None:
    exported = await make_texts(api)
    await make_workflow(other_api, isTranslationEnabled=True)
    await make_layout(other_api, "frame", body=None)

    here = await api.post(IMPORT, json=exported)
    elsewhere = await other_api.post(IMPORT, json=exported)

    assert here.json() == {"changed": 0, "unchanged": 3, "unused": ["layout/frame"]}
    assert elsewhere.json() == {"changed": 3, "unchanged": 0, "unused": ["layout/frame"]}
    assert (await api.get(EXPORT)).text == (await other_api.get(EXPORT)).text == json_text(exported)


def json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


async def test_an_import_replaces_what_it_names_and_leaves_the_rest(api: Api) -> None:
    exported = await make_texts(api)

    texts = {"locales": {"en-us": {"workflows": {"order-shipped": {"hi": "Hello"}}}, "fr_FR": {}}}
    answer = await api.post(IMPORT, json=texts)

    assert answer.json() == {"changed": 1, "unchanged": 0}
    exported["locales"]["en_US"]["workflows"]["order-shipped"] = {"hi": "Hello"}
    assert await export(api) == exported


async def test_a_bad_file_changes_nothing_and_each_place_is_named(api: Api) -> None:
    exported = await make_texts(api)
    texts = {
        "de_DE": {
            "workflows": {"order-shipped": {"hi": "Hallo", "a": {"b": "{{ x | nosuch }}", "c": 1}}},
            "layouts": {"frame": {"good": "Gut"}},
        },
        "de-de": {"workflows": {"order-shipped": {"hi": "Servus"}}},
        "fr_FR": {"workflows": {"order-shipped": {"hi": "x" * (MAX_TEXT + 1)}}},
        "german": {},
    }

    refused = await api.post(IMPORT, json={"locales": texts})

    assert refused.status_code == 422
    errors = {path: one["messages"][0] for path, one in refused.json()["errors"].items()}
    place = "workflows.order-shipped"
    assert "unknown filter 'nosuch'" in errors.pop(f"locales.de_DE.{place}.a.b")
    assert errors == {
        f"locales.de_DE.{place}.a.c": "must be a text, an object of texts, or the forms of a text for numbers",
        "locales.de-de": "is the same language as 'de_DE'",
        f"locales.de-de.{place}": "is the workflow 'order-shipped', which is named twice",
        f"locales.fr_FR.{place}.hi": f"is longer than {MAX_TEXT} characters",
        "locales.german": "must be a language and a region such as en_US",
    }
    assert await export(api) == exported


async def test_an_unknown_workflow_or_a_second_name_of_one_undoes_the_whole_import(api: Api) -> None:
    exported = await make_texts(api)
    workflow = (await api.get("/v2/workflows/order-shipped")).json()
    texts = {
        "de_DE": {
            "workflows": {"order-shipped": {"hi": "Hallo"}, workflow["_id"]: {"hi": "Servus"}, "nosuch": {}},
            "layouts": {"frame": {"good": "Gut"}, "order-shipped": {}},
        }
    }

    refused = await api.post(IMPORT, json={"locales": texts})

    assert refused.status_code == 422
    assert {path: one["messages"][0] for path, one in refused.json()["errors"].items()} == {
        f"locales.de_DE.workflows.{workflow['_id']}": "is the workflow 'order-shipped', which is named twice",
        "locales.de_DE.workflows.nosuch": "is no workflow of this environment; create it first, or leave it out",
        "locales.de_DE.layouts.order-shipped": "is no layout of this environment; create it first, or leave it out",
    }
    assert await export(api) == exported


async def test_members_that_nothing_reads_and_other_forms_are_refused(api: Api) -> None:
    texts = {"de_DE": {"worklfows": {}, "layouts": {"frame": "text"}}}

    refused = await api.post(IMPORT, json={"locales": texts, "locale": "de_DE"})

    assert refused.status_code == 422
    assert set(refused.json()["errors"]) == {
        "locale",
        "locales.de_DE.worklfows",
        "locales.de_DE.layouts.frame",
    }


async def test_files_have_so_many_translations_and_bytes(api: Api) -> None:
    languages = [f"{one}{two}_{region}" for one in "abcdefgh" for two in "abcdefghijklm" for region in ("DE", "FR")]
    assert len(languages) * 50 > MAX_TRANSLATIONS
    many: dict[str, Any] = {locale: {"workflows": {f"w{number}": {} for number in range(50)}} for locale in languages}
    refused = await api.post(IMPORT, json={"locales": many})
    long = {"de_DE": {"workflows": {"w": {"a": "x" * (MAX_EXPORT * 3 // 2)}}}}
    too_large = await api.post(IMPORT, json={"locales": long})

    assert (refused.status_code, "more than 10000" in str(refused.json()["errors"]["locales"])) == (422, True)
    assert too_large.status_code == 413


async def test_one_workflow_has_so_much_text_in_all_languages(api: Api) -> None:
    await make_workflow(api)
    content = {f"k{number}": "x" * 16_000 for number in range(16)}
    texts = {f"{letter}a_DE": {"workflows": {"order-shipped": content}} for letter in "abcdefghi"}

    refused = await api.post(IMPORT, json={"locales": texts})

    assert refused.status_code == 422
    assert "in all languages" in str(refused.json()["errors"]["locales.*.workflows.order-shipped"])
    assert (await export(api)) == {"locales": {}}


async def test_what_does_not_fit_into_one_file_is_exported_by_language(api: Api) -> None:
    content = {f"k{number}": "€" * 5_150 for number in range(16)}
    for number in range(34):
        await make_workflow(api, f"w{number}")
        assert (await put(api, "de_DE", resourceId=f"w{number}", content=content)).status_code == 200

    refused = await api.get(EXPORT)
    languages = [await api.get("/v2/translations/master-json", params={"locale": one}) for one in ("de_DE", "fr_FR")]

    assert refused.status_code == 400
    assert "one language at a time" in refused.json()["message"]
    assert [one.status_code for one in languages] == [400, 200]
    assert "one by one" in languages[0].json()["message"]
    await api.delete("/v2/workflows/w0")
    assert len((await export(api))["locales"]["de_DE"]["workflows"]) == 33


async def test_an_import_that_changes_many_templates_is_refused_and_an_unchanged_one_is_not(api: Api) -> None:
    await make_workflow(api, isTranslationEnabled=True)
    content = {f"k{number}": "{{ payload.a }}" * 100 for number in range(40)}
    texts = {f"{letter}a_DE": {"workflows": {"order-shipped": content}} for letter in "abcdefghijklmno"}

    refused = await api.post(IMPORT, json={"locales": texts})
    parts = [await api.post(IMPORT, json={"locales": {locale: one}}) for locale, one in texts.items()]
    again = await api.post(IMPORT, json=await export(api))

    assert "import fewer at a time" in str(refused.json()["errors"]["locales"])
    assert [part.json() for part in parts] == [{"changed": 1, "unchanged": 0}] * 15
    assert again.json() == {"changed": 0, "unchanged": 15}


async def test_the_audit_log_has_the_languages_that_differ(api: Api) -> None:
    exported = await make_texts(api)
    exported["locales"]["en_US"]["workflows"]["order-shipped"] = {"hi": "Hello"}
    exported["locales"]["it_IT"] = {"workflows": {"order-shipped": {"hi": "Ciao"}}}

    await api.post(IMPORT, json=exported)

    entry = (await api.get("/v1/audit-log")).json()["data"][0]
    assert (entry["action"], entry["target"]["id"]) == ("translation.update", "workflow/order-shipped")
    assert list(entry["before"]["content"]) == ["en_US"]
    assert entry["after"]["content"] == {"en_US": {"hi": "Hello"}, "it_IT": {"hi": "Ciao"}}


async def test_imports_at_the_same_time_are_not_more_together_than_one_may_be(api: Api, database: Database) -> None:
    await make_workflow(api, isTranslationEnabled=True)
    content = {f"k{number}": "x" * MAX_TEXT for number in range(15)}
    prepared = []
    for letters in ("abcde", "fghij"):
        texts = {f"{letter}a_DE": LanguageTexts(workflows={"order-shipped": content}) for letter in letters}
        read = partial(prepare_import, environment_id=api.environment.id, texts=EnvironmentTexts(locales=texts))
        prepared.append(await database.scan(read))
        prepared[-1].check()

    first, second = (partial(apply_import, prepared=one, author=Author(actor=SERVICE), now=NOW) for one in prepared)
    await database.transaction(first)
    with pytest.raises(Invalid) as refused:
        await database.transaction(second)

    assert list(refused.value.problems) == ["locales.*.workflows.order-shipped"]
    assert list((await export(api))["locales"]) == [f"{letter}a_DE" for letter in "abcde"]
