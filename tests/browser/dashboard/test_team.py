"""The team: invitations, roles, sessions; and one's own account."""

from playwright.async_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.dashboard.desk import Desk


async def test_somebody_is_invited_gets_a_role_and_is_removed(desk: Desk, page: Page) -> None:
    await desk.open(page, "/team")
    await page.get_by_role("button", name="Invite member").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Email address").fill("grace@example.com")
    await dialog.get_by_label("Role", exact=True).select_option("viewer")
    await dialog.get_by_role("button", name="Create invitation").click()
    link = await dialog.locator("pre").inner_text()
    await dialog.get_by_role("button", name="Done").click()
    await expect(page.get_by_role("table", name="Open invitations")).to_contain_text("grace@example.com")

    await accept(desk, link)
    await page.reload()
    await page.get_by_role("button", name="Edit Grace").click()
    await dialog.get_by_label("Role", exact=True).select_option("author")
    await dialog.get_by_text("In single environments").click()
    await dialog.get_by_label("Role in Production").select_option("none")
    await dialog.get_by_role("button", name="Save").click()
    row = page.get_by_role("row", name="grace@example.com")
    await expect(row).to_contain_text("Author")
    await expect(row).to_contain_text("Production: No access")

    await page.get_by_role("button", name="Edit Grace").click()
    await dialog.get_by_role("button", name="Create password reset link").click()
    await expect(dialog.locator("pre")).to_contain_text("/dashboard/reset#")
    await dialog.get_by_role("button", name="Remove").click()
    await dialog.get_by_role("button", name="Remove").click()
    await expect(row).to_have_count(0)


async def test_an_invitation_can_be_withdrawn(desk: Desk, page: Page) -> None:
    async with await desk.team.client("owner", desk.identifier) as owner:
        await owner.post("/v1/members/invitations", json={"email": "late@example.com", "role": "viewer"})
    await desk.open(page, "/team")

    await page.get_by_role("button", name="Withdraw: late@example.com").click()

    await expect(page.get_by_text("late@example.com")).to_have_count(0)


async def test_a_viewer_sees_the_team_and_no_way_to_change_it(desk: Desk, page: Page) -> None:
    await desk.open(page, "/team", role="viewer")

    await expect(page.get_by_role("table", name="Members")).to_contain_text("owner@example.com")
    await expect(page.get_by_role("main").get_by_role("button")).to_have_count(0)


async def test_one_changes_the_own_name_and_ends_other_sessions(desk: Desk, page: Page, make_page: OpenPage) -> None:
    await sign_in_elsewhere(desk)
    await desk.open(page, "/account", role="author")
    await page.get_by_label("Name").fill("Ada Author")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Saved")).to_be_visible()

    sessions = page.get_by_role("table", name="Sessions").get_by_role("row")
    # The head, this one, and at least the one that was begun elsewhere.
    await expect(sessions.nth(2)).to_be_visible()
    await page.get_by_role("button", name="End all others").click()
    await expect(sessions).to_have_count(2)

    await page.get_by_label("Current password").fill("wrong password here")
    await page.get_by_label("New password").fill("another correct horse")
    await page.get_by_role("button", name="Change password").click()
    await expect(page.get_by_text("is not right")).to_be_visible()


async def accept(desk: Desk, link: str) -> None:
    body = {"token": link.rpartition("#")[2], "name": "Grace", "password": "a long enough password"}
    async with desk.team.stranger() as api:
        assert (await api.post("/v1/auth/invitation/accept", json=body)).is_success


async def sign_in_elsewhere(desk: Desk) -> None:
    await desk.team.cookie_of("author")
    async with desk.team.stranger() as api:
        body = {"email": "author@example.com", "password": "correct horse battery"}
        assert (await api.post("/v1/auth/sign-in", json=body)).is_success
