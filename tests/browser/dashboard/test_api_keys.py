"""API keys: made, shown once, used, changed and revoked."""

import httpx
from playwright.async_api import Page, expect

from tests.browser.dashboard.desk import Desk


async def test_a_key_is_shown_once_and_works_until_it_is_revoked(desk: Desk, page: Page) -> None:
    await desk.open(page, "/api-keys")
    await page.get_by_role("button", name="New API key").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Billing")
    await dialog.get_by_label("Full access").uncheck()
    await dialog.get_by_label("workflows:read").check()
    await dialog.get_by_role("button", name="Create key").click()

    await expect(dialog.get_by_text("only time that the key is shown")).to_be_visible()
    key = await dialog.locator("pre").first.inner_text()
    assert await call_with(desk, key, "/v2/workflows") == 200
    assert await call_with(desk, key, "/v1/integrations") == 403
    await dialog.get_by_role("button", name="Done").click()

    await expect(page.get_by_text(key)).to_have_count(0)
    row = page.get_by_role("row", name="Billing")
    await expect(row).to_contain_text("workflows:read")
    await row.get_by_role("button", name="Revoke: Billing").click()
    await page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    await expect(row).to_have_count(0)
    assert await call_with(desk, key, "/v2/workflows") == 401


async def test_a_key_is_renamed_and_gets_an_end(desk: Desk, page: Page) -> None:
    made = await desk.call("POST", "/v1/environments/api-keys", {"name": "Old", "scopes": ["workflows:read"]})
    await desk.open(page, "/api-keys")
    await page.get_by_role("button", name="Edit: Old").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("New")
    await dialog.get_by_label("Expires").fill("2000-01-01T00:00")
    await dialog.get_by_role("button", name="Save").click()
    # The server's sentence stands at the field.
    await expect(dialog.get_by_label("Expires")).to_have_attribute("aria-invalid", "true")

    await dialog.get_by_label("Expires").fill("2099-01-01T00:00")
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("row", name="New")).to_contain_text("2099")
    keys = {one["_id"]: one for one in await desk.call("GET", "/v1/environments/api-keys")}
    assert keys[made["apiKey"]["_id"]]["name"] == "New"


async def test_a_viewer_sees_keys_and_no_way_to_change_them(desk: Desk, page: Page) -> None:
    await desk.open(page, "/api-keys", role="viewer")

    await expect(page.get_by_role("table", name="API keys of this environment")).to_be_visible()
    await expect(page.get_by_role("main").get_by_role("button")).to_have_count(0)


async def call_with(desk: Desk, key: str, path: str) -> int:
    async with httpx.AsyncClient(base_url=desk.service.address, headers={"Authorization": f"ApiKey {key}"}) as api:
        return (await api.get(path)).status_code
