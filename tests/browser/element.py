"""The page of a product with <clarion-inbox>, and what tests look for in it."""

import html
import itertools
import json
from typing import Any

from playwright.async_api import Locator, Page

from tests.browser.service import Service
from tests.browser.site import ProductSite

_numbers = itertools.count(1)


def put_inbox_page(product: ProductSite, served: Service, person: str, **attributes: Any) -> str:
    """A page under a policy as strict as can be, with a bell at the end of its header; returns its address."""
    given = {"application-identifier": served.application, "subscriber-id": person} | {
        name.replace("_", "-"): value if isinstance(value, str) else json.dumps(value)
        for name, value in attributes.items()
        if name not in ("dir", "lang")
    }
    text = " ".join(f'{name}="{html.escape(value)}"' for name, value in given.items())
    socket = served.address.replace("http", "ws", 1)
    policy = (
        f"default-src 'none'; script-src {served.address} {product.address}; connect-src {served.address} {socket}; "
        f"style-src {product.address}; img-src {product.address}; require-trusted-types-for 'script'; trusted-types"
    )
    product.put("/product.css", "header { display: flex; justify-content: flex-end }")
    return product.put(
        f"/inbox-{next(_numbers)}.html",
        f"""<!doctype html>
        <html lang="{attributes.get("lang", "en")}" dir="{attributes.get("dir", "ltr")}"><head>
        <meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Product</title>
        <meta name="color-scheme" content="light dark">
        <link rel="stylesheet" href="/product.css">
        <script type="module" src="{served.address}/inbox.js"></script>
        </head><body><header><clarion-inbox {text}></clarion-inbox></header>
        <main><h1>Product</h1></main></body></html>""",
        Content_Security_Policy=policy,
    )


class Inbox:
    """The element of a page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.root = page.locator("clarion-inbox")
        self.bell = self.root.locator(".bell")
        self.badge = self.root.locator(".badge")
        self.panel = self.root.locator(".panel")
        self.items = self.root.locator(".item")
        self.message = self.root.locator(".message")

    def button(self, name: str) -> Locator:
        return self.panel.get_by_role("button", name=name, exact=True)

    def item(self, text: str) -> Locator:
        return self.items.filter(has_text=text)

    async def open(self) -> None:
        await self.bell.click()

    async def press_tool(self, text: str, name: str) -> None:
        item = self.item(text)
        await item.hover()
        await item.get_by_role("button", name=name, exact=True).click()

    async def show(self, view: str) -> None:
        await self.panel.get_by_label("Show").select_option(label=view)
