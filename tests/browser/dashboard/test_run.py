"""The page of a run: what was decided and sent, and what can be done about it."""

import asyncio
import json
from typing import Any

from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import on_both_databases
from tests.browser.dashboard.desk import Desk, Team, make_desk
from tests.browser.dashboard.looks import list_problems
from tests.browser.dashboard.runs import ADA, delay, keep_mails, mail, make_workflow, step, trigger, wait_for_end
from tests.browser.service import Service
from tests.processes import Start
from tests.providers.loopback import answering, web_server

HOSTILE = """
    <style>@import url(https://tracker.example/a.css); p { background: url(https://tracker.example/b.png) }</style>
    <p style="color: rgb(1, 2, 3)">Hello {{subscriber.firstName}}</p>
    <img src="https://tracker.example/open.gif" alt="Our logo" onerror="document.title = 'run'">
    <script>document.title = "run"; fetch("https://tracker.example/script")</script>
    <a href="https://tracker.example/click">Click</a>
"""


def step_of(page: Page, name: str) -> Locator:
    return page.get_by_role("listitem").filter(has=page.get_by_role("heading", level=3, name=name))


def forget_blocked_handlers(page: Page) -> None:
    """Forget what Chromium reports when it parses the handlers in a mail: the policy of the frame blocks them."""
    problems: list[str] = page.__dict__["problems"]
    blocked = ("Executing inline event handler violates", "policy violated: script-src-attr inline")
    problems[:] = [one for one in problems if not one.startswith(blocked)]


async def expect_status(page: Page, words: str) -> None:
    await expect(page.get_by_role("region", name="Status")).to_contain_text(words)


@on_both_databases
async def test_a_skipped_step_says_why_and_opens_to_what_it_saw(desk: Desk, page: Page) -> None:
    await keep_mails(desk)
    await make_workflow(desk, mail(), step("in_app", "Inbox", subject="**Hello**", body="You *won*"))
    await desk.call("POST", "/v2/subscribers", ADA)
    await desk.call("PATCH", "/v2/subscribers/ada/preferences", {"channels": {"email": False}})
    run = await trigger(desk, "ada")
    await wait_for_end(desk, run)

    await desk.open(page, f"/activity/{run}")

    await expect(page).to_have_title("\u2068Welcome\u2069 for \u2068Ada Lovelace\u2069 · Clarion")
    skipped = step_of(page, "Email Mail")
    await expect(skipped.get_by_text("Skipped")).to_be_visible()
    await skipped.get_by_text("Ada switched email off for all workflows").click()
    await expect(skipped.get_by_text("What would change that: Ada switches email on again")).to_be_visible()
    await expect(skipped.get_by_role("region", name="What it saw")).to_contain_text('"layer"')
    shown = step_of(page, "In-app Inbox")
    await shown.get_by_text("Message Hello").click()
    card = shown.get_by_role("region", name="As the inbox shows it")
    await expect(card.get_by_text("Hello", exact=True)).to_be_visible()
    await expect(card.get_by_role("emphasis")).to_have_text("won")
    await page.get_by_role("link", name="Open the person").click()
    await expect(page).to_have_url(desk.address_of("/subscribers/ada"))


async def test_a_mail_is_shown_as_it_was_sent_and_nothing_in_it_runs_or_loads(desk: Desk, page: Page) -> None:
    await keep_mails(desk)
    await make_workflow(desk, mail(HOSTILE, cc=["team@example.com"], headers={"X-Kind": "test"}))
    run = await trigger(desk)
    await wait_for_end(desk, run)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))

    await desk.open(page, f"/activity/{run}")
    await page.get_by_text("Message Hello Ada").click()

    frame = page.frame_locator("iframe[title='The message as it was sent']")
    await expect(frame.get_by_text("Hello Ada")).to_have_css("color", "rgb(1, 2, 3)")
    await expect(frame.get_by_text("[Our logo]")).to_be_visible()
    await page.get_by_role("tab", name="Text").click()
    await expect(page.get_by_role("region", name="Text")).to_contain_text("Click (https://tracker.example/click)")
    await page.keyboard.press("ArrowRight")
    await expect(page.get_by_role("region", name="Source")).to_contain_text("<script>document.title")
    await page.keyboard.press("ArrowRight")
    await expect(page.get_by_role("tabpanel")).to_contain_text("team@example.com")
    await expect(page.get_by_role("tabpanel")).to_contain_text("X-Kind")
    await expect(page).to_have_title("\u2068Welcome\u2069 for \u2068Ada Lovelace\u2069 · Clarion")
    assert [one for one in requests if not one.startswith(desk.service.address)] == []
    forget_blocked_handlers(page)


async def test_a_failed_send_shows_the_providers_own_answer_and_can_be_sent_again(desk: Desk, page: Page) -> None:
    async with web_server(answering(400, '{"error": "Mailbox is full of cats"}')) as server:
        credentials = {"from": "a@example.com", "webhookUrl": server.url("/mails"), "secretKey": "s"}
        body = {"providerId": "email-webhook", "channel": "email", "active": True, "identifier": "cats"}
        await desk.call("POST", "/v1/integrations", body | {"credentials": credentials})
        await make_workflow(desk, mail())
        run = await trigger(desk)
        await wait_for_end(desk, run)

        await desk.open(page, f"/activity/{run}")
        await expect_status(page, "Failed")
        await page.get_by_text("Message Hello Ada").click()
        attempts = page.get_by_role("list", name="Attempts")
        await expect(attempts).to_contain_text("Refused through cats")
        await attempts.get_by_text("Mailbox is full of cats").first.click()
        await expect(page.get_by_role("region", name="The provider's answer")).to_contain_text('"status": 400')

        server.respond = answering(200, "{}")
        await page.get_by_role("button", name="Send again").click()
        await page.get_by_role("dialog").get_by_role("button", name="Send again").click()
        await expect_status(page, "Completed")
        await expect(page.get_by_role("button", name="Send again")).to_have_count(0)
        await expect(attempts).to_contain_text("Accepted through cats")


async def test_a_waiting_run_says_until_when_and_can_be_canceled(desk: Desk, page: Page) -> None:
    await make_workflow(desk, delay(3, "days"), mail())
    run = await trigger(desk)

    await desk.open(page, f"/activity/{run}")
    await expect_status(page, "Waiting")
    await expect(page.get_by_text("It waits for the end of a delay. Goes on")).to_be_visible()
    await page.get_by_role("button", name="Cancel").click()
    await page.get_by_role("dialog").get_by_role("button", name="Cancel", exact=True).first.click()

    await expect_status(page, "Canceled")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    assert {job["status"] for job in (await wait_for_end(desk, run))["jobs"]} == {"canceled"}


async def test_a_run_is_triggered_again_with_changes_and_leads_to_the_new_run(desk: Desk, page: Page) -> None:
    await keep_mails(desk)
    await make_workflow(desk, mail("<p>{{payload.order}}</p>"))
    run = await trigger(desk, payload={"order": 7}, overrides={"email": {"headers": {"X-Shop": "tea"}}})
    await desk.open(page, f"/activity/{run}")
    await expect(page.get_by_role("region", name="Overrides")).to_contain_text("X-Shop")

    await page.get_by_role("button", name="Trigger again").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_label("Workflow")).to_have_value("welcome")
    await expect(dialog.get_by_label("Person")).to_have_value("ada")
    payload = dialog.get_by_label("Payload (JSON)")
    await payload.fill("order: 8")
    await dialog.get_by_role("button", name="Trigger").click()
    await expect(dialog.get_by_text("This is no JSON").first).to_be_visible()
    await payload.fill('{"order": 8}')
    await dialog.get_by_role("button", name="Trigger").click()

    await expect(page).not_to_have_url(desk.address_of(f"/activity/{run}"))
    await expect(page.get_by_role("region", name="Payload")).to_contain_text('"order": 8')
    await expect_status(page, "Completed")
    newest = (await desk.call("GET", "/v1/notifications"))["data"][0]
    assert newest["jobs"][0]["overrides"] == {"email": {"headers": {"X-Shop": "tea"}}}
    assert page.url.endswith(newest["_id"])


async def test_a_digest_and_the_runs_that_it_took_link_to_each_other(desk: Desk, page: Page) -> None:
    await keep_mails(desk)
    window = step("digest", "Gather", type="regular", amount=1, unit="seconds")
    await make_workflow(desk, window, mail())
    first, second = [await trigger(desk, payload={"n": number}) for number in (1, 2)]
    await wait_for_end(desk, first)

    await desk.open(page, f"/activity/{second}")
    await expect_status(page, "Merged")
    await page.get_by_role("link", name="the run that has its event").first.click()
    await expect(page).to_have_url(desk.address_of(f"/activity/{first}"))
    await page.get_by_text("Its digest has 2 events").click()
    rows = page.get_by_role("table", name="Events of the digest").get_by_role("row")
    await expect(rows.nth(1)).to_contain_text("This run")
    await expect(rows.nth(2)).to_contain_text('"n": 2')
    await rows.nth(2).get_by_role("link", name="Open").click()
    await expect(page).to_have_url(desk.address_of(f"/activity/{second}"))


async def test_a_run_is_compared_with_the_current_version_of_its_workflow(desk: Desk, page: Page) -> None:
    await make_workflow(desk, step("in_app", "Inbox", body="Old words"))
    run = await trigger(desk)
    changed = {"name": "Welcome", "steps": [step("in_app", "Inbox", body="New words")]}
    await desk.call("PUT", "/v2/workflows/welcome", changed)

    await desk.open(page, f"/activity/{run}")

    await expect(page.get_by_text("It ran version 1. The current one is version 2.")).to_be_visible()
    await page.get_by_text("Changes since then").click()
    row = page.get_by_role("row").filter(has_text="controls.body")
    await expect(row).to_contain_text("Old words")
    await expect(row).to_contain_text("New words")


async def test_a_viewer_reads_a_run_and_cannot_change_it(desk: Desk, page: Page) -> None:
    await make_workflow(desk, delay(3, "days"), mail())
    run = await trigger(desk)

    await desk.open(page, f"/activity/{run}", role="viewer")

    await expect_status(page, "Waiting")
    await expect(page.get_by_role("button", name="Copy as curl")).to_be_visible()
    for name in ("Cancel", "Trigger again", "Send again"):
        await expect(page.get_by_role("button", name=name)).to_have_count(0)


async def test_what_is_copied_triggers_the_run_again(desk: Desk, page: Page) -> None:
    await make_workflow(desk, step("in_app", "Inbox", body="Hi"))
    run = await trigger(desk, payload={"name": "O'Neill"})
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await desk.open(page, f"/activity/{run}")

    await page.get_by_role("button", name="Copy as curl").click()
    await expect(page.get_by_role("status").get_by_text("The command is copied")).to_be_visible()
    command = await page.evaluate("navigator.clipboard.readText()")
    environ = {"CLARION_API_KEY": desk.key, "PATH": "/usr/bin:/bin"}
    process = await asyncio.create_subprocess_shell(command, env=environ, stdout=-1, stderr=-1)
    output, _ = await process.communicate()

    assert json.loads(output)["status"] == "processed"
    await page.get_by_role("button", name="Copy link").click()
    await expect(page.get_by_role("status").get_by_text("The address of this run is copied")).to_be_visible()
    assert await page.evaluate("navigator.clipboard.readText()") == desk.address_of(f"/activity/{run}")


async def test_a_run_with_everything_opened_is_accessible(desk: Desk, page: Page) -> None:
    await keep_mails(desk, "email", "sms")
    steps = [step("sms", "Text", body="Hi"), step("push", "Phone", subject="Hi", body="Ho"), mail(HOSTILE)]
    await make_workflow(desk, *steps, name="A workflow with a name that is much longer than anybody would expect it")
    person: dict[str, Any] = ADA | {"firstName": "ليلى", "lastName": "حسن" * 8, "phone": "+4915112345678"}
    run = await trigger(desk, person, payload={"long": "word" * 60})
    await wait_for_end(desk, run)

    await desk.open(page, f"/activity/{run}")
    await expect_status(page, "Partly failed")
    # From the end: what opens has more of them.
    for summary in reversed(await page.locator("summary").all()):
        await summary.click()
    await expect(page.get_by_role("tab", name="As sent")).to_be_visible()
    await expect(page.get_by_role("list", name="Attempts")).to_have_count(2)

    assert await list_problems(page) == []
    forget_blocked_handlers(page)


async def test_a_run_is_followed_to_its_end_although_its_worker_is_killed(
    start: Start, migrated_postgres_url: str, tmp_path: Any, page: Page
) -> None:
    store = ["--data-dir", str(tmp_path), "--database-url", migrated_postgres_url]
    api = await asyncio.to_thread(start, "api", *store)
    worker = await asyncio.to_thread(start, "worker", *store)
    service = Service(api)
    await service.prepare()
    desk = await make_desk(Team(service))
    await make_workflow(desk, delay(2, "seconds"), step("in_app", "Inbox", body="Hi"))
    run = await trigger(desk)
    # The delay must not end before the page is there.
    worker.pause()
    await desk.open(page, f"/activity/{run}")
    await expect_status(page, "Waiting")
    await expect(page.get_by_text("Followed live")).to_be_visible()
    await page.get_by_text("The trigger names Ada as a recipient").click()

    worker.kill()
    await expect(page.get_by_text("It waits for the end of a delay")).to_be_visible()
    await asyncio.to_thread(start, "worker", *store)

    await expect_status(page, "Completed")
    await expect(step_of(page, "In-app Inbox").get_by_text("Done")).to_be_visible()
    await expect(page.get_by_role("region", name="What it saw")).to_be_visible()
    await expect(page.get_by_text("Followed live")).to_have_count(0)
