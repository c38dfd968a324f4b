"""Importing subscribers from a file."""

import csv
from pathlib import Path
from typing import Any

from playwright.async_api import Page, Request, Route, expect

from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.people import check_looks, forget_refusals

FILE = """User ID;E-Mail;First name;Plan;Shoe size
ada;ada@example.com;Ada;gold;38
maryam;maryam@example.com;مريم;;
;nobody@example.com;Nobody;;
grace;not an address;Grace;;
ada;again@example.com;Again;;
"""


async def open_file(page: Page, text: str) -> None:
    chooser = page.get_by_label("Choose a file")
    await chooser.set_input_files({"name": "people.csv", "mimeType": "text/csv", "buffer": text.encode()})


async def test_columns_are_mapped_and_problems_are_shown_by_line_before_anything_is_sent(
    desk: Desk, page: Page, tmp_path: Path
) -> None:
    await desk.open(page, "/subscribers/import")
    await open_file(page, FILE)

    await expect(page.get_by_label("Goes to: User ID")).to_have_value("subscriberId")
    await page.get_by_label("Goes to: Plan").select_option("Custom data: Plan")
    problems = page.get_by_role("table", name="3 lines with problems")
    await expect(problems.get_by_role("row").nth(1)).to_contain_text("4The subscriber id is empty.")
    await expect(problems.get_by_role("row").nth(2)).to_contain_text("“not an address” is not an email address.")
    await expect(problems.get_by_role("row").nth(3)).to_contain_text("Line 2 has the same subscriber id.")
    async with page.expect_download() as saving:
        await page.get_by_role("button", name="Download these lines").click()
    await (await saving.value).save_as(tmp_path / "problems.csv")
    assert (await desk.call("GET", "/v2/subscribers"))["totalCount"] == 0

    await page.get_by_role("button", name="Import 2 subscribers").click()
    await expect(page.get_by_text("Import finished")).to_be_visible()
    await expect(page.get_by_text("2 created, 0 changed")).to_be_visible()
    ada = await desk.call("GET", "/v2/subscribers/ada")
    assert (ada["firstName"], ada["data"]) == ("Ada", {"Plan": "gold"})
    with (tmp_path / "problems.csv").open(newline="") as saved:
        assert [row["E-Mail"] for row in csv.DictReader(saved)] == [
            "nobody@example.com",
            "not an address",
            "again@example.com",
        ]


async def test_lines_that_the_server_refuses_are_shown_and_the_rest_of_their_batch_is_imported(
    desk: Desk, page: Page
) -> None:
    await desk.open(page, "/subscribers/import")
    # The page accepts any language in a locale; the server knows how long its parts can be.
    await page.get_by_label("Or paste lines").fill("id,locale\nada,en-GB\ngrace,en-1\nedsger,nl-NL\n")
    await page.get_by_role("button", name="Read pasted lines").click()
    await page.get_by_role("button", name="Import 3 subscribers").click()

    await expect(page.get_by_text("2 created, 0 changed")).to_be_visible()
    refused = page.get_by_role("table", name="1 line was refused").get_by_role("row").nth(1)
    await expect(refused).to_contain_text("3")
    await expect(refused).to_contain_text("must be a BCP 47 locale")
    await expect(page.get_by_role("button", name="Download refused lines")).to_be_visible()
    forget_refusals(page)


async def test_ten_thousand_lines_are_sent_in_batches_that_can_be_paused_and_canceled(desk: Desk, page: Page) -> None:
    await desk.open(page, "/subscribers/import")
    sizes: list[int] = []

    async def count(route: Route, request: Request) -> None:
        body: Any = request.post_data_json
        sizes.append(len(body["subscribers"]))
        await route.continue_()

    await page.route("**/v1/subscribers/bulk", count)
    await open_file(page, "id,email\n" + "".join(f"p{n},p{n}@example.com\n" for n in range(10_000)))
    await page.get_by_role("button", name="Import 10,000 subscribers").click()
    await page.get_by_role("button", name="Pause").click()
    await expect(page.get_by_text("Paused")).to_be_visible()
    await page.get_by_role("button", name="Continue").click()
    await page.get_by_role("button", name="Cancel import").click()

    await expect(page.get_by_text("What was sent before stays.")).to_be_visible()
    assert sizes
    assert set(sizes) == {500}
    assert len(sizes) < 20


async def test_a_failure_in_the_middle_can_be_continued_without_losing_a_line(desk: Desk, page: Page) -> None:
    await desk.open(page, "/subscribers/import")
    answers = iter([503])

    async def fail_once(route: Route) -> None:
        status = next(answers, None)
        if status is None:
            await route.continue_()
        else:
            await route.fulfill(status=status, json={"message": "The store is away."})

    await page.route("**/v1/subscribers/bulk", fail_once)
    await open_file(page, "id\nada\ngrace\n")
    await page.get_by_role("button", name="Import 2 subscribers").click()
    await expect(page.get_by_role("alert")).to_contain_text("The store is away.")
    forget_refusals(page)
    await page.get_by_role("button", name="Continue").click()

    await expect(page.get_by_text("2 created, 0 changed")).to_be_visible()


async def test_files_that_cannot_be_read_say_why(desk: Desk, page: Page) -> None:
    await desk.open(page, "/subscribers/import")
    for text, sentence in (
        ("", "This file is empty."),
        ("id,name\n", "no line below it"),
        ('id,name\nada,"Ada\ngrace,Grace', "opens on line 2 is never closed"),
        ("PK\0\1", "This file is not text."),
    ):
        await open_file(page, text)
        await expect(page.get_by_role("alert")).to_contain_text(sentence)
    await open_file(page, "email\nada@example.com\n")
    await expect(page.get_by_role("alert")).to_contain_text("Choose the column that has the subscriber id.")


async def test_the_import_is_accessible_at_both_widths_and_in_both_themes(desk: Desk, page: Page) -> None:
    await desk.open(page, "/subscribers/import")
    await open_file(page, FILE)
    await expect(page.get_by_role("heading", name="3 lines with problems")).to_be_visible()
    await check_looks(page)
