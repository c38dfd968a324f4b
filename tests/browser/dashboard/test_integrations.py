"""Integrations: made from the catalogue, tried out, put in order, changed and deleted."""

import re
from typing import Any

from playwright.async_api import Page, Response, expect

from tests.browser.conftest import on_both_databases
from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems
from tests.browser.dashboard.vendor import (
    SECRET,
    add_integration,
    add_mail_workflow,
    mail_vendor,
    sent_bodies,
    trigger,
    wait_for_letters,
)
from tests.providers.loopback import PASSWORD, mail_server


async def test_an_integration_is_made_from_the_catalogue_and_shows_the_answer_to_a_test(desk: Desk, page: Page) -> None:
    async with mail_vendor() as vendor:
        await desk.open(page, "/integrations")
        await page.get_by_role("link", name="New integration").click()
        await page.get_by_label("Search").fill("webhook mail")
        await page.get_by_role("link", name="Email Webhook").click()
        await page.get_by_label("Sender address").fill("sender@example.com")
        await page.get_by_label("Webhook URL").fill(vendor.url())
        await page.get_by_label("Signing key").fill(SECRET)
        await page.get_by_label("Name", exact=True).fill("Post office")
        await page.get_by_role("button", name="Create integration").click()

        await page.get_by_label("Email address").fill("ada@example.com")
        await page.get_by_role("button", name="Send").click()
        result = page.get_by_role("region", name="Result")
        await expect(result).to_contain_text("The provider accepted the message")
        await expect(result).to_contain_text("vendor-42")
        await expect(result).to_be_focused()
        assert sent_bodies(vendor)[-1]["to"] == ["ada@example.com"]
        await expect(page).to_have_title("Post office · Clarion")


async def test_a_refusal_of_the_vendor_is_shown_in_its_own_words(desk: Desk, page: Page) -> None:
    async with mail_vendor(403, '{"error": "sender is not verified"}') as vendor:
        made = await add_integration(desk, vendor)
        await desk.open(page, f"/integrations/{made['_id']}?part=test")

        await page.get_by_role("button", name="Send").click()
        await expect(page.get_by_label("Email address")).to_have_attribute("aria-invalid", "true")
        await page.get_by_label("Email address").fill("ada@example.com")
        await page.get_by_role("button", name="Send").click()

        result = page.get_by_role("region", name="Result")
        await expect(result).to_contain_text("The message was not sent")
        await expect(result).to_contain_text("sender is not verified")


async def test_credentials_that_do_not_work_are_refused_before_they_are_saved(desk: Desk, page: Page) -> None:
    async with mail_server(log_in=True) as mail:
        await desk.open(page, "/integrations/new?provider=nodemailer")
        await page.get_by_label("Sender address").fill("sender@example.com")
        await page.get_by_label("Host").fill("127.0.0.1")
        await page.get_by_label("Port").fill(str(mail.port))
        await page.get_by_text("More settings of the account").click()
        await page.get_by_label("User").fill("ada")
        await page.get_by_label("Password").fill("wrong")
        await page.get_by_role("button", name="Create integration").click()
        await expect(page.get_by_role("alert").first).to_contain_text("535")
        assert await _list_of(desk, "email") == []

        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Create integration").click()
        await page.wait_for_url(re.compile("/integrations/[0-9a-f]{8}-"))
        await expect(page.get_by_role("heading", level=1, name="Custom SMTP")).to_be_visible()
        assert [one["credentials"]["host"] for one in await _list_of(desk, "email")] == ["127.0.0.1"]


async def test_secrets_never_come_back_to_the_page_and_stay_when_nothing_is_typed(desk: Desk, page: Page) -> None:
    answers: list[str] = []

    async def note(response: Response) -> None:
        if "/v1/" in response.url and response.status != 204:
            answers.append(await response.text())

    async with mail_vendor() as vendor:
        made = await add_integration(desk, vendor)
        page.on("response", note)
        await desk.open(page, f"/integrations/{made['_id']}?part=settings")
        await expect(page.get_by_text("Set. Leave empty to keep it.")).to_be_visible()
        await expect(page.get_by_label("Signing key")).to_have_value("")

        await page.get_by_label("Sender address").fill("other@example.com")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_text("Saved")).to_be_visible()
        await expect(page.get_by_label("Sender address")).to_have_value("other@example.com")
        await page.get_by_role("link", name="Test message").click()
        await page.get_by_label("Email address").fill("ada@example.com")
        await page.get_by_role("button", name="Send").click()
        await expect(page.get_by_role("region", name="Result")).to_contain_text("accepted")

        assert SECRET not in await page.content()
        assert answers
        assert not [one for one in answers if SECRET in one]
        stored = await desk.call("GET", f"/v1/integrations/{made['_id']}")
        assert (stored["credentials"]["from"], stored["credentials"]["secretKey"]) == ("other@example.com", SECRET)


async def test_a_secret_has_to_be_typed_again_for_another_server(desk: Desk, page: Page) -> None:
    async with mail_vendor() as vendor:
        made = await add_integration(desk, vendor)
        await desk.open(page, f"/integrations/{made['_id']}?part=settings")
        await page.get_by_label("Webhook URL").fill("https://elsewhere.example.com/")
        await page.get_by_role("button", name="Save").click()

        await expect(page.get_by_label("Signing key")).to_have_attribute("aria-invalid", "true")
        await expect(page.get_by_text("send the secret itself").first).to_be_visible()


@on_both_databases
async def test_the_order_is_changed_by_the_keyboard_and_by_dragging(desk: Desk, page: Page) -> None:
    async with mail_vendor() as vendor:
        for name in ("First", "Second", "Third"):
            await add_integration(desk, vendor, name)
        await desk.open(page, "/integrations")
        rows = page.get_by_role("list", name="Email integrations in the order").get_by_role("listitem")
        await expect(rows.first).to_contain_text("Primary")

        handle = page.get_by_role("button", name="Move Third, place 3 of 3")
        await handle.focus()
        await page.keyboard.press("ArrowUp")
        await page.keyboard.press("ArrowUp")
        await expect(rows.first).to_contain_text("Third")
        await expect(page.get_by_role("button", name="Move Third, place 1 of 3")).to_be_focused()
        await expect(rows.first).to_contain_text("Primary")
        assert await _order_of(desk) == ["Third", "First", "Second"]

        source = await page.get_by_role("button", name="Move Third").bounding_box()
        target = await rows.nth(2).bounding_box()
        assert source
        assert target
        await page.mouse.move(source["x"] + 5, source["y"] + 5)
        await page.mouse.down()
        await page.mouse.move(source["x"] + 5, target["y"] + target["height"], steps=6)
        await page.mouse.up()
        await expect(rows.first).to_contain_text("Primary")
        await expect(rows.nth(2)).to_contain_text("Third")
        await expect(page.get_by_text("Order saved")).to_be_visible()
        await expect(rows.first).to_contain_text("First")
        assert await _order_of(desk) == ["First", "Second", "Third"]


async def test_health_says_what_fails_and_leads_to_the_run(desk: Desk, page: Page) -> None:
    async with mail_vendor(400, '{"error": "domain is not verified"}') as vendor:
        made = await add_integration(desk, vendor)
        await add_mail_workflow(desk)
        await trigger(desk, "ada", "bob")
        await wait_for_letters(desk, 2)

        await desk.open(page, "/integrations")
        await expect(page.get_by_text("0 sent, 2 failed in 24 hours")).to_be_visible()
        await page.get_by_role("link", name="Vendor").click()
        await expect(page.get_by_role("region", name="State")).to_contain_text("Every call failed")
        errors = page.get_by_role("region", name="Last errors")
        await expect(errors).to_contain_text("Email Webhook answered 400: domain is not verified")
        await expect(errors).to_contain_text("2 times")
        await errors.locator("summary").click()
        await expect(errors.get_by_role("link", name="Open the run").first).to_be_visible()
        await page.get_by_label("Time", exact=True).select_option("Last 7 days")
        await expect(page).to_have_url(desk.address_of(f"/integrations/{made['_id']}?range=7d"))
        await expect(page.get_by_role("table", name="Calls of the provider")).to_be_attached()


async def test_one_becomes_the_primary_and_another_is_deleted(desk: Desk, page: Page) -> None:
    async with mail_vendor() as vendor:
        first = await add_integration(desk, vendor, "First")
        second = await add_integration(desk, vendor, "Second")
        await desk.open(page, f"/integrations/{second['_id']}")
        await page.get_by_role("button", name="Make primary").click()
        await page.get_by_role("dialog").get_by_role("button", name="Make primary").click()
        await expect(page.get_by_text("Second is the primary integration now")).to_be_visible()

        await desk.open(page, f"/integrations/{first['_id']}")
        await page.get_by_role("button", name="Delete").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_role("button", name="Delete")).to_be_disabled()
        await dialog.get_by_label("to confirm").fill(first["identifier"])
        await dialog.get_by_role("button", name="Delete").click()
        await expect(page.get_by_role("heading", level=1, name="Integrations")).to_be_visible()
        await expect(page.get_by_role("link", name="First")).to_have_count(0)
        assert await _order_of(desk) == ["Second"]


async def test_the_address_for_receipts_is_shown_with_what_to_do(desk: Desk, page: Page) -> None:
    credentials = {"accountSid": "AC1", "token": "secret", "from": "+4420"}
    body = {"providerId": "twilio", "channel": "sms", "active": True, "credentials": credentials}
    made = await desk.call("POST", "/v1/integrations", body)
    await desk.open(page, f"/integrations/{made['_id']}?part=receipts")

    await expect(page.get_by_text("/v2/inbound-webhooks/delivery-providers/")).to_be_visible()
    await expect(page.get_by_text("“Auth token” in the settings")).to_be_visible()
    await expect(page.get_by_text("Set CLARION_PUBLIC_URL")).to_be_visible()


async def test_registering_the_address_for_receipts_says_what_came_of_it(desk: Desk, page: Page) -> None:
    credentials = {"apiKey": "SG.secret", "from": "a@example.com", "senderName": "Shop"}
    body = {"providerId": "sendgrid", "channel": "email", "active": True, "credentials": credentials}
    made = await desk.call("POST", "/v1/integrations", body)
    await desk.open(page, f"/integrations/{made['_id']}?part=receipts")

    await page.get_by_role("button", name="Register the address at SendGrid").click()

    await expect(page.get_by_role("status").filter(has_text="CLARION_PUBLIC_URL")).to_be_visible()


async def test_a_bot_of_telegram_is_set_up_from_its_page(desk: Desk, page: Page) -> None:
    credentials = {"apiToken": "123456:not-the-token-of-a-bot"}
    body = {"providerId": "telegram", "channel": "chat", "active": True, "credentials": credentials}
    made = await desk.call("POST", "/v1/integrations", body)
    await desk.open(page, f"/integrations/{made['_id']}?part=bot")

    await page.get_by_role("button", name="Configure webhook").click()
    await expect(page.get_by_role("alert").filter(has_text="CLARION_PUBLIC_URL")).to_be_visible()
    await page.get_by_role("button", name="Make the page").click()

    await expect(page.get_by_role("status").filter(has_text="/connect/telegram/")).to_be_visible()
    assert await list_problems(page) == []


async def test_a_viewer_sees_integrations_and_no_way_to_change_them(desk: Desk, page: Page) -> None:
    async with mail_vendor() as vendor:
        first = await add_integration(desk, vendor, "First")
        await add_integration(desk, vendor, "Second")
        await desk.open(page, "/integrations", role="viewer")
        await expect(page.get_by_role("link", name="First")).to_be_visible()
        await expect(page.get_by_role("link", name="New integration")).to_have_count(0)
        await expect(page.get_by_role("button", name="Move")).to_have_count(0)

        await desk.open(page, f"/integrations/{first['_id']}?part=settings", role="viewer")
        facts = page.get_by_role("region", name="Facts")
        await expect(facts).to_contain_text("sender@example.com")
        await expect(facts).not_to_contain_text(SECRET)
        for name in ("Save", "Delete", "Make primary"):
            await expect(page.get_by_role("button", name=name)).to_have_count(0)
        await expect(page.get_by_role("link", name="Test message")).to_have_count(0)


async def test_pages_of_integrations_are_accessible_in_both_themes_and_widths(desk: Desk, page: Page) -> None:
    async with mail_vendor() as vendor:
        made = await add_integration(desk, vendor, "نظام البريد with a very long name that goes on and on")
        await add_integration(desk, vendor, "Second", weight=10, rateLimit=5)
        here = f"/integrations/{made['_id']}"
        for path in ("/integrations", here, f"{here}?part=settings"):
            await desk.open(page, path)
            await expect(page.get_by_text("نظام البريد").first).to_be_visible()
            assert await list_problems(page) == []


async def _list_of(desk: Desk, channel: str) -> list[dict[str, Any]]:
    return [one for one in await desk.call("GET", "/v1/integrations") if one["channel"] == channel]


async def _order_of(desk: Desk) -> list[str]:
    return [one["name"] for one in sorted(await _list_of(desk, "email"), key=lambda one: -one["priority"])]


async def test_an_email_integration_shows_where_its_provider_hands_over_replies(desk: Desk, page: Page) -> None:
    replies = {"enabled": True, "domain": "in.example.com"}
    await desk.call("PATCH", f"/v1/environments/{desk.environment['_id']}", {"replies": replies})
    async with mail_vendor() as vendor:
        made = await add_integration(desk, vendor)
    await desk.open(page, f"/integrations/{made['_id']}?part=replies")

    part = page.get_by_role("region", name="Address for replies")
    await expect(part).to_contain_text("/v2/inbound-webhooks/mail/")
    await expect(part).to_contain_text("ask for replies at in.example.com")
    await expect(part).to_contain_text("an MX record")
    assert await list_problems(page) == []
