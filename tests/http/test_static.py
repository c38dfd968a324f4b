"""Pages that anyone may read."""

import asyncio
import json
import threading
from collections.abc import Iterator

import httpx
import pytest

from clarion.http.static import SlowPage, StaticPage
from tests.support import Api


async def get(page: SlowPage) -> StaticPage:
    found = page()
    return found if isinstance(found, StaticPage) else await found


async def test_a_slow_page_is_made_once_while_the_event_loop_goes_on() -> None:
    has_loop_run = threading.Event()
    made: list[StaticPage] = []

    def make() -> StaticPage:
        assert has_loop_run.wait(timeout=30)
        made.append(StaticPage(b"text/plain", b"slow"))
        return made[0]

    page = SlowPage(make)
    asyncio.get_running_loop().call_later(0.01, has_loop_run.set)
    await asyncio.gather(get(page), get(page))

    assert page() is made[0]
    assert len(made) == 1


async def test_a_page_that_fails_is_made_again_the_next_time() -> None:
    outcomes: Iterator[Exception | StaticPage] = iter([ValueError("no memory"), StaticPage(b"text/plain", b"made")])

    def make() -> StaticPage:
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    page = SlowPage(make)
    with pytest.raises(ValueError, match="no memory"):
        await get(page)

    assert (await get(page)).body == b"made"


async def test_the_description_and_the_reference_are_compressed_and_revalidated(api: Api) -> None:
    for path, content_type in (("/openapi.json", "application/json"), ("/docs", "text/html; charset=utf-8")):
        first: httpx.Response = await api.get(path)
        again = await api.get(path, headers={"If-None-Match": first.headers["etag"]})

        assert (first.status_code, first.headers["content-type"]) == (200, content_type)
        assert first.headers["content-encoding"] == "gzip"
        assert (again.status_code, again.content) == (304, b"")
    assert json.loads((await api.get("/openapi.json")).content)["openapi"] == "3.1.0"
