"""The editor of block documents."""

import json
from typing import Any

from playwright.async_api import Locator, Page, expect

from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems
from tests.browser.dashboard.test_editor import MAIL, make_workflow, open_editor, read_workflow, save
from tests.content.email.documents import Node, make_document, make_node, make_text, paragraph, variable


async def open_blocks(desk: Desk, page: Page, *nodes: Node, **fields: Any) -> Locator:
    """Open an e-mail of these blocks, and return the place where they are edited."""
    values = {"subject": "Hello", "body": make_document(*nodes), "editorType": "block"}
    await make_workflow(desk, {**MAIL, "controlValues": values}, **fields)
    await open_editor(desk, page, "?step=mail")
    paper = page.get_by_role("textbox", name="Body", exact=True)
    await expect(paper).to_be_visible()
    return paper


def field_of(page: Page, label: str) -> Locator:
    """The field of an attribute of the chosen block."""
    return page.get_by_role("region", name="Chosen block").get_by_label(label, exact=True)


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
    await field_of(page, "Text").fill("Order now")
    await field_of(page, "Address").fill("https://example.com/order")
    await add_block(page, "Picture")
    await field_of(page, "Address of the picture").fill("https://example.com/a.png")
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


async def test_blocks_are_moved_nested_copied_and_deleted_by_the_keyboard_alone(desk: Desk, page: Page) -> None:
    paper = await open_blocks(desk, page, paragraph("One"), make_node("section", paragraph("Inside")), paragraph("Two"))
    await paper.focus()
    await page.keyboard.press("Control+Home")
    await expect(page.get_by_role("button", name="Paragraph “One”")).to_have_attribute("aria-current", "true")
    await page.keyboard.press("Alt+ArrowDown")
    await expect(page.get_by_text("Paragraph “One” is now 1 of 2 in Section")).to_be_attached()
    await page.keyboard.type("Still ")
    await page.keyboard.press("Alt+ArrowDown")
    await page.keyboard.press("Alt+ArrowDown")
    await page.keyboard.press("Alt+ArrowDown")
    await expect(page.get_by_text("Paragraph “Still One” is now 3 of 3")).to_be_attached()
    await page.keyboard.press("Alt+ArrowDown")
    await expect(page.get_by_text("Paragraph “Still One” cannot move further")).to_be_attached()
    await page.keyboard.press("Control+Shift+d")
    await page.keyboard.press("Control+Home")
    await page.keyboard.press("Escape")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Section", exact=True)).to_have_attribute("aria-current", "true")
    await page.keyboard.press("Alt+ArrowDown")
    await expect(page.get_by_text("Section is now 2 of 4")).to_be_attached()
    await page.keyboard.press("x")
    await page.keyboard.press("Delete")
    await page.keyboard.press("Control+s")
    await expect(page.get_by_role("status").get_by_text("Saved", exact=True)).to_be_visible()
    one = paragraph("Still One")
    assert await read_blocks(desk) == [paragraph("Two"), one, one]


async def test_a_block_is_dragged_into_a_section(desk: Desk, page: Page) -> None:
    inside = make_node("section", paragraph("Inside"))
    paper = await open_blocks(desk, page, paragraph("First"), paragraph("Second"), inside)
    target = paper.get_by_text("Inside")
    # A page that scrolls between pressing and moving begins no dragging.
    await target.scroll_into_view_if_needed()
    await paper.get_by_text("First").hover()
    box = await target.bounding_box()
    assert box
    await page.get_by_title("Drag to move").drag_to(target, target_position={"x": box["width"] - 10, "y": 10})
    await expect(page.get_by_text("Paragraph “First” is now 2 of 2 in Section")).to_be_attached()
    await save(page)
    nested = make_node("section", paragraph("Inside"), paragraph("First"))
    assert await read_blocks(desk) == [paragraph("Second"), nested]


async def test_undo_goes_back_over_blocks_and_fields_in_one_order(desk: Desk, page: Page) -> None:
    paper = await open_blocks(desk, page, paragraph("One"), paragraph("Two"))
    await paper.get_by_text("One").click()
    await page.keyboard.press("End")
    await page.keyboard.type(" more")
    await page.get_by_label("Name of the step").fill("Letter")
    await paper.get_by_text("Two").click()
    await page.keyboard.press("Alt+ArrowUp")
    await expect(paper.locator("p").first).to_have_text("Two")
    await page.keyboard.press("Control+z")
    await expect(paper.locator("p").first).to_have_text("One more")
    await page.keyboard.press("Control+z")
    await expect(page.get_by_label("Name of the step")).to_have_value("Mail")
    await page.keyboard.press("Control+z")
    await expect(paper.locator("p").first).to_have_text("One")
    await expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    await expect(page.get_by_role("status").get_by_text("Saved", exact=True)).to_be_visible()
    for _ in range(3):
        await page.keyboard.press("Control+Shift+z")
    await expect(paper.locator("p").first).to_have_text("Two")
    await expect(page.get_by_label("Name of the step")).to_have_value("Letter")


async def test_two_people_change_different_blocks(desk: Desk, page: Page) -> None:
    paper = await open_blocks(desk, page, paragraph("One"), make_node("section", paragraph("Two"), paragraph("Three")))
    await paper.get_by_text("Two").click()
    await page.keyboard.press("End")
    await page.keyboard.type(" of mine")
    theirs = make_document(paragraph("One"), make_node("section", paragraph("Two"), paragraph("Three of theirs")))
    workflow = await read_workflow(desk)
    step = workflow["steps"][0] | {"controlValues": workflow["steps"][0]["controlValues"] | {"body": theirs}}
    await desk.call("PUT", "/v2/workflows/welcome", {"name": "Welcome", "steps": [step]})
    await page.get_by_role("button", name="Save", exact=True).click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("group")).to_have_count(2)
    await dialog.get_by_role("button", name="Save the merged workflow").click()
    await expect(page.get_by_role("status").get_by_text("Saved", exact=True)).to_be_visible()
    merged = make_node("section", paragraph("Two of mine"), paragraph("Three of theirs"))
    assert await read_blocks(desk) == [paragraph("One"), merged]
    await expect(paper.get_by_text("Three of theirs")).to_be_visible()


async def test_problems_stand_at_their_blocks_and_lead_to_them(desk: Desk, page: Page) -> None:
    wrong = make_node("button", text="Go", url="javascript:alert(1)")
    unknown = {"type": "carousel", "attrs": {"speed": 2}}
    paper = await open_blocks(desk, page, paragraph("One"), make_node("section", wrong), unknown)
    await page.get_by_role("region", name="Problems").get_by_role("link").filter(has_text="must be an address").click()
    await expect(paper).to_be_focused()
    await expect(field_of(page, "Address")).to_have_value("javascript:alert(1)")
    await expect(field_of(page, "Address")).to_have_attribute("aria-invalid", "true")
    await paper.get_by_text("One").click()
    await paper.get_by_text("Go", exact=True).click()
    await expect(field_of(page, "Text")).to_have_value("Go")
    await (
        page.get_by_role("list", name="Problems of blocks")
        .get_by_role("button")
        .filter(has_text="carousel")
        .first.click()
    )
    await expect(page.get_by_text("This editor does not know this block.")).to_be_visible()
    assert await list_problems(page) == []
    await page.get_by_role("navigation", name="What is around it").scroll_into_view_if_needed()
    await paper.get_by_text("One").click()
    await page.keyboard.type("!")
    await save(page)
    assert (await read_blocks(desk))[1:] == [make_node("section", wrong), unknown]


async def test_texts_get_formats_links_and_colours(desk: Desk, page: Page) -> None:
    paper = await open_blocks(desk, page, paragraph("Read on"))
    await paper.get_by_text("Read on").click()
    await page.keyboard.press("Home")
    for _ in "Read":
        await page.keyboard.press("Shift+ArrowRight")
    await page.keyboard.press("Control+b")
    await page.get_by_role("button", name="Link", exact=True).click()
    await field_of(page, "Address").fill("https://example.com")
    await page.get_by_role("button", name="Colour of the text").click()
    await field_of(page, "Colour").fill("#116a3b")
    await page.get_by_role("button", name="Centre").click()
    await save(page)
    (block,) = await read_blocks(desk)
    assert block["attrs"] == {"textAlign": "center"}
    read, rest = block["content"]
    assert rest == {"type": "text", "text": " on"}
    marks = {mark["type"]: mark.get("attrs") for mark in read["marks"]}
    assert marks.keys() == {"bold", "link", "textStyle"}
    assert marks["link"]["href"] == "https://example.com"
    assert marks["textStyle"] == {"color": "#116a3b"}


async def test_the_source_is_the_same_document(desk: Desk, page: Page) -> None:
    paper = await open_blocks(
        desk, page, paragraph("One"), make_node("repeat", paragraph("Item"), each="payload.items")
    )
    await page.get_by_role("radio", name="Source").check()
    source = page.get_by_role("textbox", name="Body", exact=True)
    await source.click()
    await page.keyboard.press("Control+a")
    await page.keyboard.insert_text('{"type": "doc"}')
    await expect(page.get_by_role("paragraph").filter(has_text="must be a document of blocks")).to_be_visible()
    await page.keyboard.press("Control+a")
    await page.keyboard.insert_text(make_document(paragraph("Other")))
    await page.get_by_role("radio", name="Blocks").last.check()
    await expect(paper.get_by_text("Other")).to_be_visible()
    await page.get_by_role("button", name="Undo").click()
    await expect(paper.get_by_text("For each of payload.items")).to_be_visible()


async def test_layouts_are_edited_as_blocks(desk: Desk, page: Page) -> None:
    await desk.call("POST", "/v2/layouts", {"layoutId": "news", "name": "News"})
    await desk.open(page, "/layouts/news")
    paper = page.get_by_role("textbox", name="Body", exact=True)
    await expect(paper.get_by_text("content", exact=True)).to_be_visible()
    await paper.focus()
    await page.keyboard.press("Control+Home")
    await add_block(page, "Button")
    await field_of(page, "Address").fill("javascript:x")
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_role("list", name="Problems of blocks")).to_contain_text("must be an address")
    await field_of(page, "Address").fill("https://example.com")
    await save(page)
    layout = await desk.call("GET", "/v2/layouts/news")
    blocks = json.loads(layout["controls"]["values"]["email"]["body"])["content"]
    assert [block["type"] for block in blocks][:2] == ["paragraph", "button"]
    assert await list_problems(page) == []


HOSTILE = """
<p data-block="paragraph" data-raw='{"type": "paragraph", "content": [{"type": "text", "text": "hidden"}]}'></p>
<p data-pm-slice='1 1 ["section", {"raw": {"type": "section", "attrs": {"showIfKey": "hidden"}}}]'>Pasted</p>
<div data-block="unknownBlock"
  data-raw='{"type": "htmlCodeBlock", "content": [{"type": "text", "text": "hidden"}]}'></div>
<p raw='{"type": "paragraph", "attrs": {"showIfKey": "hidden"}}'>words</p>
<p><strong data-mark="bold" data-raw='{"type": "link", "attrs": {"href": "https://hidden.example"}}'>bold</strong></p>
"""

PASTE = """(paper, html) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/html", html);
  paper.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""


async def test_html_of_other_pages_is_pasted_as_what_is_seen_of_it(desk: Desk, page: Page) -> None:
    paper = await open_blocks(desk, page, paragraph("Dear reader"))
    await paper.get_by_text("Dear reader").click()
    await page.keyboard.press("End")
    await paper.evaluate(PASTE, HOSTILE)
    await expect(paper.get_by_text("bold")).to_be_visible()
    await save(page)

    blocks = await read_blocks(desk)
    assert "hidden" not in json.dumps(blocks)
    assert blocks[-1] == paragraph(make_text("bold", make_node("bold")))


async def test_blocks_are_copied_with_all_that_is_stored_of_them(desk: Desk, page: Page) -> None:
    section = make_node("section", paragraph("Inside", align="center"), backgroundColor="#eeeeee")
    paper = await open_blocks(desk, page, section, paragraph("After"))
    await paper.focus()
    await page.keyboard.press("Control+a")
    await page.keyboard.press("Control+c")
    await page.keyboard.press("Control+End")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Control+v")
    await expect(paper.get_by_text("Inside")).to_have_count(2)
    await save(page)

    assert (await read_blocks(desk)).count(section) == 2
