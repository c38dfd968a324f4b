"""The link for the first owner, which a starting service prints."""

import re
from pathlib import Path

import httpx

from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.members.actions import make_setup_url
from clarion.settings.model import Settings
from clarion.vocabulary import Role
from tests.members.support import PASSWORD, SignIn
from tests.processes import Process, Start
from tests.support import Site


def find_link(process: Process) -> str:
    found = re.search(r"https?://[\w.:]+/dashboard/setup#[\w-]{43}$", process.output, re.MULTILINE)
    assert found is not None, process.output
    return found[0]


def set_up(process: Process, link: str) -> httpx.Response:
    body = {"token": link.partition("#")[2], "email": "ada@example.com", "name": "Ada", "password": PASSWORD}
    headers = {"Origin": process.address, "X-Clarion": "1"}
    return httpx.post(f"{process.address}/v1/auth/setup", json=body, headers=headers)


def test_the_link_of_the_last_start_makes_the_owner_and_no_log_has_it(start: Start, tmp_path: Path) -> None:
    log, store = tmp_path / "log", ("--data-dir", str(tmp_path / "data"))
    first = start("serve", *store, CLARION_LOG_FILE=str(log))
    first.stop()
    second = start("serve", *store, CLARION_LOG_FILE=str(log))

    replaced = set_up(second, find_link(first))
    made = set_up(second, find_link(second))
    second.stop()

    assert find_link(first).startswith(f"{first.address}/dashboard/setup#")
    assert (replaced.status_code, made.status_code) == (422, 201)
    for link in (find_link(first), find_link(second)):
        assert link.partition("#")[2] not in log.read_text()


async def test_there_is_a_link_until_there_are_members(
    database: Database, clock: ManualClock, settings: Settings, open_browser: SignIn, site: Site
) -> None:
    await database.transaction(lambda db: db.execute(sql("DELETE FROM members")))
    public = Settings(data_dir=settings.data_dir, public_url="https://clarion.example.com/sub/")

    url = await make_setup_url(database, public, clock.now())
    assert url is not None
    body = {"token": url.partition("#")[2], "email": "ada@example.com", "name": "Ada", "password": PASSWORD}
    made = await (await open_browser()).post("/v1/auth/setup", json=body)
    other = await make_setup_url(database, public, clock.now())
    await database.transaction(lambda db: db.execute(sql("DELETE FROM members")))

    assert url.startswith("https://clarion.example.com/sub/dashboard/setup#")
    assert made.status_code == 201
    assert other is None


async def test_a_colleague_who_signs_in_first_leaves_the_link_to_the_owner(
    database: Database, clock: ManualClock, settings: Settings, open_browser: SignIn, make_browser: SignIn, site: Site
) -> None:
    await database.transaction(lambda db: db.execute(sql("DELETE FROM members")))
    url = await make_setup_url(database, settings, clock.now())
    assert url is not None
    colleague, browser = await make_browser(Role.VIEWER), await open_browser()

    needs_setup = (await colleague.get("/v1/auth/methods")).json()["needsSetup"]
    body = {"token": url.partition("#")[2], "email": "ada@example.com", "name": "Ada", "password": PASSWORD}
    made = await browser.post("/v1/auth/setup", json=body)
    again = await make_setup_url(database, settings, clock.now())
    await database.transaction(lambda db: db.execute(sql("DELETE FROM members")))

    assert needs_setup is True
    assert (made.status_code, made.json()["member"]["role"]) == (201, "owner")
    assert again is None
