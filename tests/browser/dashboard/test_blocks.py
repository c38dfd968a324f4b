"""The editor of block documents."""

import json
from typing import Any

from playwright.async_api import Locator, Page, expect

from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems
from tests.browser.dashboard.test_editor import MAIL, make_workflow, open_editor, read_workflow, save
from tests.content.email.documents import Node, make_document, paragraph, variable


async def open_blocks(desk: Desk, page: Page, *nodes: Node, **fields: Any) -> Locator:
    """Open an e-mail of these blocks, and return the place where they are edited."""
    values = {"subject": "Hello", "body": make_document(*nodes), "editorType": "block"}
    await make_workflow(desk, {**MAIL, "controlValues": values}, **fields)
    await open_editor(desk, page, "?step=mail")
    paper = page.get_by_role("textbox", name="Body", exact=True)
    await expect(paper).to_be_visible()
    return paper


async def read_blocks(desk: Desk) -> list[Node]:
    workflow = await read_workflow(desk)
    content: list[Node] = json.loads(workflow["steps"][0]["controlValues"]["body"])["content"]
    return content


async def add_block(page: Page, name: str) -> None:
    await page.get_by_role("button", name="Add a block").click()
    await page.get_by_role("button", name=name, exact=True).click()


async def write_news(page: Page) -> None:
    """Write a greeting to its end, and a heading, a button, a picture and a section behind it."""
    await page.keyboard.press("End")
    await page.keyboard.type(",")
    await page.keyboard.press("Enter")
    await page.keyboard.type("## News")
    await page.keyboard.press("Enter")
    await page.keyboard.type("See /but")
    await expect(page.get_by_role("option", name="Button")).to_be_visible()
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Button added")).to_be_attached()
    await page.get_by_label("Text", exact=True).fill("Order now")
    await page.get_by_label("Address", exact=True).fill("https://example.com/order")
    await add_block(page, "Picture")
    await page.get_by_label("Address of the picture", exact=True).fill("https://example.com/a.png")
    await add_block(page, "Section")
    await page.keyboard.type("Inside for ")
    await write_variable(page, "sub", "firstName")


async def write_variable(page: Page, start: str, member: str) -> None:
    await page.keyboard.type("{{" + start)
    await page.keyboard.press("Enter")
    await page.keyboard.type(member[:5])
    await expect(page.get_by_role("option", name=member)).to_be_visible()
    await page.keyboard.press("Enter")


async def test_blocks_are_added_written_saved_and_there_again(desk: Desk, page: Page) -> None:
    paper = await open_blocks(desk, page, paragraph("Dear reader"))
    await paper.get_by_text("Dear reader").click()
    await write_news(page)
    preview = page.get_by_role("region", name="Preview").frame_locator("iframe")
    await expect(preview.get_by_role("link", name="Order now")).to_be_visible()
    await save(page)

    blocks = await read_blocks(desk)
    assert [block["type"] for block in blocks] == ["paragraph", "heading", "paragraph", "button", "image", "section"]
    assert blocks[0] == paragraph("Dear reader,")
    assert blocks[3]["attrs"]["text"] == "Order now"
    assert blocks[5]["content"] == [paragraph("Inside for ", variable("subscriber.firstName"))]
    await page.reload()
    await expect(paper.get_by_text("Order now")).to_be_visible()
    await expect(page.get_by_role("status").get_by_text("Saved", exact=True)).to_be_visible()
    assert await list_problems(page) == []
