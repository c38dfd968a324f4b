"""Activity when it cannot show every run: more than a stream sends, runs that were missed, searches that stop."""

import asyncio
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from playwright.async_api import Page, expect

from clarion.clock import Millis
from clarion.ids import first_id
from clarion.runs.changes import MAX_REPLAYED
from clarion.runs.store import MAX_EXAMINED
from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.people import forget_refusals
from tests.browser.dashboard.runs import keep_mails, mail, make_workflow, step, trigger, wait_for_end
from tests.browser.dashboard.test_activity import rows_of
from tests.faults.proxy import Proxy

PEOPLE_OF_AN_EVENT = 100


async def trigger_for_many(desk: Desk, people: int) -> None:
    """Trigger a workflow for many people at once."""
    events = [
        {"name": "welcome", "to": [f"person-{event}-{number}" for number in range(PEOPLE_OF_AN_EVENT)]}
        for event in range(people // PEOPLE_OF_AN_EVENT)
    ]
    await desk.call("POST", "/v1/events/trigger/bulk", {"events": events})


async def wait_for_runs(desk: Desk, number: int) -> None:
    async with asyncio.timeout(30):
        while (await desk.call("GET", "/v1/runs/counts"))["total"] < number:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)


async def prepare(desk: Desk) -> None:
    await make_workflow(desk, step("in_app", "Inbox", body="Hello"))
    await trigger(desk, "ada")


async def wait_until_live(page: Page) -> None:
    await expect(page.get_by_text("Live", exact=True)).to_be_visible()
    await expect(rows_of(page)).to_have_count(1)


async def test_more_runs_than_a_stream_sends_are_counted(desk: Desk, page: Page) -> None:
    await prepare(desk)
    await desk.open(page, "/activity")
    await wait_until_live(page)

    await trigger_for_many(desk, 500)

    note = page.get_by_text("left out: more than 200 runs a second match")
    await expect(note).to_have_text(re.compile(r"^\d+ changes were left out"))
    await page.reload()
    await expect(rows_of(page)).to_have_count(100)
    await expect(note).to_have_count(0)


async def test_runs_that_are_missed_while_the_connection_is_lost_are_counted(desk: Desk, page: Page) -> None:
    await prepare(desk)
    proxy = Proxy(desk.service.address)
    await proxy.open()
    await desk.open(page)
    await page.goto(desk.address_of("/activity").replace(desk.service.address, proxy.address))
    await wait_until_live(page)

    await proxy.close()
    await expect(page.get_by_text("Connection lost")).to_be_visible()
    await trigger_for_many(desk, MAX_REPLAYED + PEOPLE_OF_AN_EVENT)
    await wait_for_runs(desk, MAX_REPLAYED + PEOPLE_OF_AN_EVENT)
    await proxy.open()

    missed = page.get_by_text("did not arrive in time")
    await expect(missed).to_contain_text(re.compile(r"1\d\d runs did not arrive in time"))
    await page.get_by_role("button", name="Reload the list").click()
    await expect(missed).to_have_count(0)
    await expect(rows_of(page)).to_have_count(100)
    await page.close()
    await proxy.close()
    # The browser logs every connection that fails in between.
    forget_refusals(page)


async def test_a_search_that_stops_at_its_limit_goes_on_further_back(desk: Desk, page: Page) -> None:
    await keep_mails(desk)
    await make_workflow(desk, mail())
    oldest = await wait_for_end(desk, await trigger(desk, {"subscriberId": "bob", "email": "bob@example.com"}))
    put_runs_behind(desk, oldest, MAX_EXAMINED)
    await wait_for_end(desk, await trigger(desk, {"subscriberId": "ada", "email": "ada@example.com"}))

    await desk.open(page, "/activity?providerId=svc-email")
    await expect(rows_of(page)).to_have_count(1)
    await expect(page.get_by_text("Searched back to")).to_be_visible()
    further = page.get_by_role("button", name="Search further back")
    await further.click()
    await expect(rows_of(page)).to_have_count(2)
    await expect(rows_of(page).last).to_contain_text("bob")
    await expect(page.get_by_text("These are all runs of this time.")).to_be_visible()

    await desk.open(page, "/activity?providerId=twilio")
    await expect(page.get_by_role("heading", name="No run matches")).to_be_visible()
    await expect(page.get_by_text("Nothing matches in the part of this time that was searched.")).to_be_visible()
    await further.click()
    await expect(further).to_have_count(0)
    await expect(page.get_by_text("Nothing matches all of the filters in this time.")).to_be_visible()


def put_runs_behind(desk: Desk, run: dict[str, Any], count: int) -> None:
    """Store runs that began right after another one and sent nothing; to trigger so many would take long."""
    file = Path(desk.service.options[desk.service.options.index("--data-dir") + 1]) / "clarion.db"
    run_id = bytes.fromhex(run["_id"].replace("-", ""))
    first = int.from_bytes(first_id(Millis(int.from_bytes(run_id[:6]) + 1)))
    ids = [(first + number).to_bytes(16) for number in range(count)]
    with closing(sqlite3.connect(file, timeout=30)) as store, store:
        store.row_factory = sqlite3.Row
        for table, change in (("triggers", "transaction_key"), ("notifications", "trigger_id")):
            row = dict(store.execute(_FIND[table], (run_id,)).fetchone())
            marks = ", ".join(f":{name}" for name in row)
            values = ({**row, "id": one, change: one.hex() if change == "transaction_key" else one} for one in ids)
            store.executemany(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", values)


_FIND = {
    "notifications": "SELECT * FROM notifications WHERE id = ?",
    "triggers": "SELECT * FROM triggers WHERE id = (SELECT trigger_id FROM notifications WHERE id = ?)",
}
