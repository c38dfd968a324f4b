"""Webhooks: endpoints, their secrets, what was delivered to them; and the audit log of all that."""

from playwright.async_api import Page, expect

from tests.browser.dashboard.desk import Desk


async def test_an_endpoint_is_added_tested_and_its_secret_rotated(desk: Desk, page: Page) -> None:
    await desk.open(page, "/webhooks")
    await expect(page.get_by_role("heading", name="No endpoints yet")).to_be_visible()
    await page.get_by_role("button", name="New endpoint").first.click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Address").fill("https://hooks.invalid/clarion")
    await dialog.get_by_label("message.failed").check()
    await dialog.get_by_role("button", name="Create endpoint").click()
    await expect(dialog.get_by_text("shown only here")).to_be_visible()
    await dialog.get_by_role("button", name="Done").click()

    await page.get_by_role("link", name="https://hooks.invalid/clarion").click()
    await expect(page.get_by_text("message.failed")).to_be_visible()
    await page.get_by_role("button", name="Send test event").click()
    await expect(page.get_by_text("The test event was not taken.")).to_be_visible()

    await page.get_by_role("button", name="Rotate secret").click()
    await dialog.get_by_role("button", name="Rotate secret").click()
    await expect(dialog.get_by_text("works beside it until")).to_be_visible()
    await dialog.get_by_role("button", name="Done").click()

    await page.get_by_role("button", name="Delete").click()
    await dialog.get_by_role("button", name="Delete").click()
    await expect(page.get_by_role("heading", name="No endpoints yet")).to_be_visible()


async def test_the_audit_log_says_who_changed_what(desk: Desk, page: Page) -> None:
    made = await desk.call("POST", "/v2/workflows", {"name": "Before", "workflowId": "noted", "steps": []})
    async with await desk.team.client("author", desk.identifier) as author:
        answer = await author.patch("/v2/workflows/noted", json={"name": "After"})
    assert answer.is_success, answer.text
    await desk.open(page, f"/audit-log?targetId={made['_id']}")

    entries = page.get_by_role("list", name="Changes, newest first").get_by_role("listitem")
    await expect(entries).to_have_count(2)
    await expect(entries.first).to_contain_text("changed the workflow")
    await entries.first.get_by_text("changed the workflow").click()
    await expect(entries.first.get_by_role("row", name="name")).to_contain_text("Before")
    await expect(entries.first.get_by_role("row", name="name")).to_contain_text("After")

    await page.get_by_label("By").select_option("apiKey")
    await expect(entries).to_have_count(1)
    await page.reload()
    await expect(entries).to_have_count(1)
    await expect(page.get_by_label("By")).to_have_value("apiKey")
