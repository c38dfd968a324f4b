"""Suppressions: found, added, removed, imported and exported."""

from pathlib import Path
from typing import Any

from playwright.async_api import Page, expect

from tests.browser.conftest import on_both_databases
from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems


async def _suppress(desk: Desk, *addresses: str, **fields: Any) -> None:
    entries = [{"channel": "email" if "@" in one else "sms", "address": one, **fields} for one in addresses]
    await desk.call("POST", "/v1/suppressions/bulk", {"suppressions": entries})


async def _addresses(desk: Desk) -> list[str]:
    found = await desk.call("GET", "/v1/suppressions/export?limit=10000")
    return sorted(one["address"] for one in found["data"])


async def test_an_address_is_added_and_found_in_any_spelling(desk: Desk, page: Page) -> None:
    await desk.open(page, "/suppressions")
    await expect(page.get_by_role("heading", name="Nothing is suppressed")).to_be_visible()
    await expect(page.get_by_text("curl -X POST")).to_be_visible()

    await page.get_by_role("button", name="Add address").click()
    dialog = page.get_by_role("dialog", name="Add address")
    await dialog.get_by_label("Address").fill("no address")
    await dialog.get_by_role("button", name="Add address").click()
    await expect(dialog.get_by_label("Address")).to_have_attribute("aria-invalid", "true")
    await dialog.get_by_label("Address").fill("Ada@Example.com")
    await dialog.get_by_label("Detail").fill("asked for it")
    await dialog.get_by_role("button", name="Add address").click()
    await expect(page.get_by_role("row", name="ada@example.com")).to_contain_text("asked for it")

    await _suppress(desk, "bob@example.com")
    await page.get_by_role("searchbox", name="Address").fill("Ada Lovelace <ADA@example.com>")
    await page.get_by_role("button", name="Find").click()
    await expect(page.get_by_role("row", name="ada@example.com")).to_be_visible()
    await expect(page.get_by_role("row", name="bob@example.com")).to_have_count(0)
    await page.get_by_label("Reason").select_option("Bounced")
    await expect(page.get_by_role("heading", name="No address matches")).to_be_visible()


@on_both_databases
async def test_one_or_several_addresses_are_removed(desk: Desk, page: Page) -> None:
    await _suppress(desk, "ada@example.com", "bob@example.com", "cleo@example.com", "+44 20 7946 0000")
    await desk.open(page, "/suppressions")
    await page.get_by_role("button", name="Remove ada@example.com").click()
    await page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    await expect(page.get_by_role("row", name="ada@example.com")).to_have_count(0)

    await page.get_by_label("Channel").select_option("Email")
    await expect(page.get_by_role("row", name="442079460000")).to_have_count(0)
    await page.get_by_role("button", name="Select all that are shown").click()
    await page.get_by_label("Select cleo@example.com").uncheck()
    await page.get_by_role("button", name="Remove 1 selected").click()
    await page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    await expect(page.get_by_role("row", name="bob@example.com")).to_have_count(0)
    assert await _addresses(desk) == ["442079460000", "cleo@example.com"]


async def test_a_file_is_imported_in_batches_with_problems_by_line(desk: Desk, page: Page, tmp_path: Path) -> None:
    await _suppress(desk, "p7@example.com")
    lines = ["email,detail", *(f"p{n}@example.com,old system" for n in range(1200)), "no-at-sign@,", ",nobody", "@,"]
    file = tmp_path / "addresses.csv"
    file.write_text("\n".join(lines))
    await desk.open(page, "/suppressions")
    await page.get_by_role("button", name="Import").click()
    dialog = page.get_by_role("dialog", name="Import addresses")
    await dialog.get_by_label("File").set_input_files(file)

    await expect(dialog).to_contain_text("1,202 addresses are ready.")
    await expect(dialog).to_contain_text("Line 1,203: has no address")
    await dialog.get_by_role("button", name="Import 1,202 addresses").click()
    await expect(dialog).to_contain_text("1,202 of 1,202. 1,199 added, 1 on the list before.")
    await expect(dialog).to_contain_text("Line 1,202: no-at-sign@ is not an address")
    await expect(dialog).to_contain_text("Line 1,204: @ is not an address")
    assert len(await _addresses(desk)) == 1200
    await dialog.get_by_role("button", name="Close").last.click()
    await expect(page.get_by_role("row", name="p1199@example.com")).to_contain_text("old system")


async def test_what_is_exported_has_all_pages_and_can_be_imported(desk: Desk, page: Page, tmp_path: Path) -> None:
    addresses = [f"p{n}@example.com" for n in range(120)]
    await _suppress(desk, *addresses, detail="old, or gone")
    await _suppress(desk, "+44 20 7946 0000")
    await desk.open(page, "/suppressions?channel=email")
    rows = page.get_by_role("table", name="Suppressed addresses").get_by_role("row")
    await expect(rows).to_have_count(101)
    await page.get_by_role("button", name="Show more").click()
    await expect(rows).to_have_count(121)
    async with page.expect_download() as started:
        await page.get_by_role("button", name="Export CSV").click()
    saved = tmp_path / "suppressions.csv"
    await (await started.value).save_as(saved)
    assert len(saved.read_text().splitlines()) == 121

    entries = [{"channel": "email", "address": one} for one in addresses]
    async with desk.api() as api:
        await api.request("DELETE", "/v1/suppressions/bulk", json={"suppressions": entries})
    await page.get_by_role("button", name="Import").click()
    await page.get_by_label("File").set_input_files(saved)
    await page.get_by_role("button", name="Import 120 addresses").click()
    await expect(page.get_by_role("dialog")).to_contain_text("120 added")
    assert await _addresses(desk) == sorted([*addresses, "442079460000"])


async def test_a_viewer_sees_suppressions_and_no_way_to_change_them(desk: Desk, page: Page) -> None:
    await _suppress(desk, "ada@example.com")
    await desk.open(page, "/suppressions", role="viewer")

    await expect(page.get_by_role("row", name="ada@example.com")).to_be_visible()
    await expect(page.get_by_role("button", name="Export CSV")).to_be_visible()
    for name in ("Add", "Import", "Remove", "Select"):
        await expect(page.get_by_role("button", name=name)).to_have_count(0)
    await expect(page.get_by_role("checkbox")).to_have_count(0)


async def test_suppressions_are_accessible_in_both_themes_and_widths(desk: Desk, page: Page) -> None:
    await _suppress(desk, "a-very-long-address-that-does-not-end@subdomain.of-a-long-domain.example.com", "+4420794600")
    await desk.open(page, "/suppressions")
    await expect(page.get_by_text("a-very-long-address").first).to_be_visible()
    assert await list_problems(page) == []
