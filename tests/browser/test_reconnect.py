"""The element when the service goes away and comes back."""

from playwright.async_api import Page, expect

from tests.browser.element import Inbox, put_inbox_page
from tests.browser.service import Service
from tests.browser.site import ProductSite
from tests.processes import Start
from tests.servers import free_port


async def test_after_a_restart_nothing_is_missed(
    start: Start, store: list[str], product: ProductSite, page: Page
) -> None:
    port = str(free_port())
    process = start("serve", *store, CLARION_PORT=port)
    service = Service(process)
    await service.prepare()
    await service.notify("ada", title="Before")
    await page.goto(put_inbox_page(product, service, "ada"))
    inbox = Inbox(page)
    await inbox.open()
    await expect(inbox.items).to_have_count(1)

    process.kill()
    start("serve", *store, CLARION_PORT=port)
    await service.notify("ada", title="Meanwhile")

    await expect(inbox.items).to_have_count(2)
    await expect(inbox.badge).to_have_text("2")
    await service.notify("ada", title="Afterwards")
    await expect(inbox.items.first).to_contain_text("Afterwards")
    # The browser logs every connection that fails in between.
    page.__dict__["problems"].clear()
