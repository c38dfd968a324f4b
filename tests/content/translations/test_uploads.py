"""Texts as files and of all resources at once, on both databases."""

import json
from typing import Any

import pytest

from tests.content.translations.test_routes import put, set_languages
from tests.support import Api
from tests.workflows.support import make_workflow

UPLOAD = "/v2/translations/upload"
MASTER = "/v2/translations/master-json"
OF_WORKFLOW = {"resourceId": "order-shipped", "resourceType": "workflow"}


def file(name: str, content: Any) -> tuple[str, bytes, str]:
    encoded = content if isinstance(content, bytes) else json.dumps(content).encode()
    return name, encoded, "application/json"


async def upload(api: Api, *files: tuple[str, bytes, str], field: str = "files", **fields: str) -> Any:
    return await api.post(UPLOAD, data=OF_WORKFLOW | fields, files=[(field, one) for one in files])


@pytest.mark.parametrize("field", ["files", "files[]"])
async def test_files_are_translations_named_by_their_language(api: Api, field: str) -> None:
    await make_workflow(api, isTranslationEnabled=True)
    await set_languages(api, "de_DE")

    answer = await upload(api, file("en_US.json", {"a": "A"}), file("de-DE.json", {"a": "Ä"}), field=field)

    assert answer.status_code == 200, answer.text
    assert answer.json() == {"totalFiles": 2, "successfulUploads": 2, "failedUploads": 0, "errors": []}
    assert (await api.get("/v2/translations/workflow/order-shipped/de_DE")).json()["content"] == {"a": "Ä"}


async def test_files_that_cannot_be_used_are_told_and_the_others_taken(api: Api) -> None:
    await make_workflow(api, isTranslationEnabled=True)
    await set_languages(api, "de_DE", "fr_FR", "it_IT")

    answer = await upload(
        api,
        file("en_US.json", {"a": "A"}),
        file("de_DE.json", b"{broken"),
        file("fr_FR.json", {"a": "{{ x | nosuch }}"}),
        file("it_IT.json", []),
        file("notes.txt", {}),
        file("en-US.json", {"a": "again"}),
    )

    assert answer.status_code == 200, answer.text
    assert (answer.json()["successfulUploads"], answer.json()["failedUploads"]) == (1, 5)
    assert answer.json()["errors"][0] == "Failed to process file 'de_DE.json': is not a JSON object"
    assert "unknown filter 'nosuch'" in answer.json()["errors"][1]
    assert (await api.get("/v2/translations/workflow/order-shipped/en_US")).json()["content"] == {"a": "A"}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([file("english.json", {}), file("en_US.txt", {})], "invalid names or formats"),
        ([file("en_US.json", b"{broken")], "No valid translation files were found"),
        ([file("en_US.json", {"a": "\x00"})], "No valid translation files were found"),
        ([file("en_US.json", b"[" * 500)], "No valid translation files were found"),
        ([file("es_ES.json", {"a": "b"})], "not configured: es_ES. Configured are en_US, de_DE"),
        ([file("../en_US.json", {"a": "b"})], "invalid names or formats"),
    ],
)
async def test_an_upload_without_anything_to_use_is_refused(api: Api, files: list[Any], message: str) -> None:
    await make_workflow(api, isTranslationEnabled=True)
    await set_languages(api, "de_DE")

    refused = await upload(api, *files)

    assert (refused.status_code, message in refused.json()["message"]) == (400, True), refused.text


async def test_a_form_needs_its_fields_and_is_no_json(api: Api) -> None:
    await make_workflow(api)
    without = await api.post(UPLOAD, data={"resourceType": "page"}, files=[("files", file("en_US.json", {}))])
    as_json = await api.post(UPLOAD, json=OF_WORKFLOW)
    elsewhere = await upload(api, file("en_US.json", {"a": "b"}), resourceId="nothing")

    assert set(without.json()["errors"]) == {"resourceId", "resourceType"}
    assert as_json.status_code == 415
    assert elsewhere.status_code == 404


async def test_all_texts_of_a_language_are_exported_and_imported(api: Api) -> None:
    for key in ("alpha", "beta"):
        await make_workflow(api, key, isTranslationEnabled=key == "alpha")
        await put(api, resourceId=key, content={"name": key})
    exported = (await api.get(MASTER)).json()
    german = {"workflows": {"alpha": {"name": "Alfa"}, "beta": {"name": "Beta"}}, "layouts": {}}
    imported = await api.post(MASTER, json={"locale": "de-DE", "masterJson": german})

    assert exported == {"data": {"workflows": {"alpha": {"name": "alpha"}, "beta": {"name": "beta"}}, "layouts": {}}}
    assert imported.json() == {"success": True, "message": "Imported 2 resources", "successful": ["alpha", "beta"]}
    assert (await api.get(MASTER, params={"locale": "de_DE"})).json()["data"] == german
    assert (await api.get(MASTER, params={"locale": "fr_FR"})).json()["data"] == {"workflows": {}, "layouts": {}}
    assert (await api.get(MASTER, params={"locale": "german"})).status_code == 422


@pytest.mark.parametrize(
    ("texts", "message", "success"),
    [
        ({"workflows": {"order-shipped": {"a": "b"}, "nothing": {}}}, "Partial import completed", True),
        ({"workflows": {"nothing": {}, "order-shipped": "x"}}, "Failed to import any resources", False),
        ({"workflows": {"order-shipped": {"a": 1}}, "layouts": {"none": {}}}, "Failed to import any resources", False),
        ({"workflows": {}}, "No supported resources found", False),
        ({}, "No supported resources found", False),
    ],
)
async def test_an_import_tells_what_it_could_not_use(
    api: Api, texts: dict[str, Any], message: str, *, success: bool
) -> None:
    await make_workflow(api)
    answer = await api.post(MASTER, json={"locale": "en_US", "masterJson": texts})

    assert answer.status_code == 200, answer.text
    assert answer.json()["message"].startswith(message)
    assert answer.json()["success"] is success


async def test_a_master_file_is_imported(api: Api) -> None:
    await make_workflow(api)
    texts = {"workflows": {"order-shipped": {"a": "b"}}}
    answer = await api.post(f"{MASTER}/upload", files={"file": file("en_US.json", texts)})

    assert answer.status_code == 200, answer.text
    assert answer.json()["data"]["successful"] == ["order-shipped"]


@pytest.mark.parametrize(
    "files",
    [
        [("file", file("en.json", {}))],
        [("file", file("en_US-master.json", {"workflows": {}}))],
        [("file", file("en_US.txt", {"workflows": {}}))],
        [("file", file("en_US.json", b""))],
        [("file", file("en_US.json", {}))],
        [("file", file("en_US.json", {"workflows": []}))],
    ],
)
async def test_a_master_file_needs_a_language_and_content(api: Api, files: Any) -> None:
    assert (await api.post(f"{MASTER}/upload", files=files)).status_code == 400


async def test_one_master_file_is_imported_at_a_time(api: Api) -> None:
    twice = [("file", file("en_US.json", {})), ("file", file("de_DE.json", {}))]
    assert (await api.post(f"{MASTER}/upload", files=twice)).status_code == 422
    assert (await api.post(f"{MASTER}/upload", files=[("other", file("en_US.json", {}))])).status_code == 422


async def test_languages_of_the_organization_are_set_by_its_owners(api: Api) -> None:
    before = (await api.get("/v1/organizations/settings")).json()
    body = {"defaultLocale": "de-de", "targetLocales": ["en_US", "en-us", "fr_FR"], "removeNovuBranding": False}
    changed = await api.patch("/v1/organizations/settings", json=body)
    again = (await api.get("/v1/organizations/settings")).json()
    refused = await api.patch("/v1/organizations/settings", json={"defaultLocale": "de", "targetLocales": ["x"]})

    assert before == {"data": {"defaultLocale": "en_US", "targetLocales": [], "removeNovuBranding": True}}
    assert changed.json() == again
    assert again["data"] == {"defaultLocale": "de_DE", "targetLocales": ["en_US", "fr_FR"], "removeNovuBranding": True}
    assert "nothing that is sent is branded" in changed.headers["Clarion-Warnings"]
    assert set(refused.json()["errors"]) == {"defaultLocale", "targetLocales.0"}


async def test_a_command_line_can_check_its_key(api: Api) -> None:
    answer = (await api.get("/v1/users/me")).json()
    assert answer["data"]["type"] == "apiKey"
