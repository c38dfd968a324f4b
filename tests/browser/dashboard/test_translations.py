"""Translations: the list, and the table of keys and languages."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems

STEP = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "{{t.hello.title}}"}}
ENGLISH = {"hello": {"title": "Hello"}, "bye": "Bye"}


async def make_texts(desk: Desk) -> None:
    body = {"name": "Welcome", "workflowId": "welcome", "steps": [STEP], "isTranslationEnabled": True}
    await desk.call("POST", "/v2/workflows", body)
    await put_texts(desk, "en_US", ENGLISH)


async def put_texts(desk: Desk, locale: str, content: Any) -> None:
    body = {"resourceId": "welcome", "resourceType": "workflow", "locale": locale, "content": content}
    await desk.call("POST", "/v2/translations", body)


async def read_texts(desk: Desk, locale: str) -> Any:
    found = await desk.call("GET", f"/v2/translations/workflow/welcome/{locale}")
    return found.get("data", found)["content"]


def read_file(path: Path) -> Any:
    return json.loads(path.read_text())


async def save(page: Page) -> None:
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_role("status").get_by_text("Saved", exact=True)).to_be_visible()


@pytest.mark.usefixtures("languages")
async def test_what_is_missing_is_seen_filled_in_and_saved(desk: Desk, page: Page) -> None:
    await make_texts(desk)
    await desk.open(page, "/translations")
    await expect(page.get_by_role("row").filter(has_text="Welcome")).to_contain_text("1 language needs work")
    await page.get_by_role("link", name="Welcome").click()
    await expect(page.get_by_text("2 texts are missing")).to_be_visible()

    await page.get_by_role("textbox", name="hello.title in de_DE").fill("Hallo")
    await page.get_by_label("Only keys that lack a text").check()
    await expect(page.get_by_role("textbox", name="hello.title in de_DE")).to_have_count(0)
    await page.get_by_role("textbox", name="bye in de_DE").fill("Tschüss")
    await expect(page.get_by_text("All texts are there")).to_be_visible()
    await put_texts(desk, "de_DE", {"other": "Anderes"})
    await save(page)
    assert await read_texts(desk, "de_DE") == {"other": "Anderes", "hello": {"title": "Hallo"}, "bye": "Tschüss"}


@pytest.mark.usefixtures("languages")
async def test_keys_are_added_removed_and_brought_back(desk: Desk, page: Page) -> None:
    await make_texts(desk)
    await desk.open(page, "/translations/workflow/welcome")
    await page.get_by_role("button", name="Add a key").click()
    await page.get_by_label("Key", exact=True).fill("footer")
    await page.get_by_role("dialog").get_by_label("en_US").fill("<b>Yours</b>")
    await page.get_by_role("button", name="Add key").click()
    await page.get_by_role("button", name="Remove bye from all languages").click()
    await expect(page.get_by_role("textbox", name="bye in en_US")).to_have_count(0)
    await page.get_by_role("button", name="Undo", exact=True).click()
    await expect(page.get_by_role("textbox", name="bye in en_US")).to_have_value("Bye")
    await save(page)
    assert await read_texts(desk, "en_US") == {**ENGLISH, "footer": "<b>Yours</b>"}


@pytest.mark.usefixtures("languages")
async def test_texts_are_imported_from_a_file_and_exported(desk: Desk, page: Page, tmp_path: Path) -> None:
    await make_texts(desk)
    file = tmp_path / "de_DE.json"
    file.write_text(json.dumps({"hello": {"title": "Hallo"}}))
    await desk.open(page, "/translations/workflow/welcome")
    await page.get_by_role("button", name="Import a file").click()
    await page.get_by_label("File").set_input_files(file)
    await page.get_by_role("button", name="Import", exact=True).click()
    await expect(page.get_by_role("textbox", name="hello.title in de_DE")).to_have_value("Hallo")
    await save(page)

    await page.get_by_role("link", name="All translations").click()
    await page.get_by_role("button", name="Export").click()
    await page.get_by_label("Language", exact=True).select_option("de_DE")
    async with page.expect_download() as downloading:
        await page.get_by_role("button", name="Download").click()
    exported = read_file(await (await downloading.value).path())
    assert exported["workflows"] == {"welcome": {"hello": {"title": "Hallo"}}}

    file.write_text(json.dumps({"workflows": {"welcome": {"bye": "Tschüss"}}}))
    await page.get_by_role("button", name="Import").click()
    await page.get_by_label("File").set_input_files(file)
    await page.get_by_role("dialog").get_by_role("button", name="Import", exact=True).click()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    assert await read_texts(desk, "de_DE") == {"bye": "Tschüss"}


@pytest.mark.usefixtures("languages")
async def test_all_languages_are_exported_and_imported_as_one_file(desk: Desk, page: Page, tmp_path: Path) -> None:
    await make_texts(desk)
    await put_texts(desk, "de_DE", {"bye": "Tschüss"})
    await desk.open(page, "/translations")
    await page.get_by_role("button", name="Export").click()
    async with page.expect_download() as downloading:
        await page.get_by_role("button", name="Download").click()
    exported = read_file(await (await downloading.value).path())
    assert exported["locales"]["de_DE"] == {"workflows": {"welcome": {"bye": "Tschüss"}}, "layouts": {}}

    file = tmp_path / "texts.json"
    exported["locales"]["de_DE"]["workflows"]["welcome"]["bye"] = "{{ x | nosuch }}"
    file.write_text(json.dumps(exported))
    await page.get_by_role("button", name="Import").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("File").set_input_files(file)
    await expect(dialog.get_by_label("Language", exact=True)).to_have_count(0)
    await dialog.get_by_role("button", name="Import", exact=True).click()
    await expect(dialog.get_by_text("locales.de_DE.workflows.welcome.bye: ")).to_be_visible()

    exported["locales"]["de_DE"]["workflows"]["welcome"]["bye"] = "Servus"
    file = tmp_path / "mended.json"
    file.write_text(json.dumps(exported))
    await dialog.get_by_label("File").set_input_files(file)
    await dialog.get_by_role("button", name="Import", exact=True).click()
    await expect(page.get_by_text("1 translation is changed")).to_be_visible()
    assert await read_texts(desk, "de_DE") == {"bye": "Servus"}
    assert await read_texts(desk, "en_US") == ENGLISH


@pytest.mark.usefixtures("languages")
async def test_a_viewer_reads_texts_and_the_pages_are_accessible(desk: Desk, page: Page) -> None:
    await make_texts(desk)
    await desk.open(page, "/translations/workflow/welcome", role="viewer")
    await expect(page.get_by_text("Changing them needs the role of an author")).to_be_visible()
    await expect(page.get_by_role("textbox", name="bye in en_US")).to_be_disabled()
    found: list[str] = []
    for path in ("/translations", "/translations/workflow/welcome"):
        await desk.open(page, path)
        await expect(page.get_by_text("Welcome").first).to_be_visible()
        found += [f"{path}: {problem}" for problem in await list_problems(page)]
    assert found == []
