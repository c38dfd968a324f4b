"""Many suppressed addresses in one call: added, cleared and exported."""

from typing import Any

import pytest

from clarion.clock import SECOND, ManualClock
from clarion.db.port import Database
from clarion.sending.suppressions.store import following_query
from clarion.vocabulary import Scope
from tests.audit.support import list_entries
from tests.plans import explain
from tests.sending.suppressions.test_routes import addresses, suppress
from tests.support import Api, MakeApi, Site

BULK = "/v1/suppressions/bulk"


async def send(api: Api, method: str, *entries: tuple[str, str], **fields: Any) -> tuple[int, Any]:
    body = {"suppressions": [{"channel": channel, "address": address, **fields} for channel, address in entries]}
    response = await api.request(method, BULK, json=body)
    return response.status_code, response.json()


async def export(api: Api, **query: Any) -> list[list[str]]:
    """Return the addresses of every page."""
    pages: list[list[str]] = []
    after: dict[str, str] = {}
    while True:
        response = await api.get("/v1/suppressions/export", params={**query, **after})
        assert response.status_code == 200, response.text
        pages.append([one["address"] for one in response.json()["data"]])
        if response.json()["next"] is None:
            return pages
        after = {"after": response.json()["next"]}


async def test_many_are_added_and_those_that_exist_stay(api: Api) -> None:
    await suppress(api, "ada@example.com", detail="first")
    entries = [
        ("email", "Ada@Example.com"),
        ("email", "Grace <grace@example.com>"),
        ("email", "GRACE@example.com"),
        ("sms", "+44 20 7946 0958"),
    ]

    answer = await send(api, "POST", *entries, detail="second")

    assert answer == (200, {"added": 2, "existing": 2})
    listed = (await api.get("/v1/suppressions")).json()["data"]
    assert {one["address"]: one["detail"] for one in listed} == {
        "ada@example.com": "first",
        "grace@example.com": "second",
        "442079460958": "second",
    }


async def test_many_are_cleared_in_any_spelling(api: Api) -> None:
    await send(api, "POST", ("email", "ada@example.com"), ("sms", "+442079460958"), ("email", "x@example.com"))

    answer = await send(
        api, "DELETE", ("email", "ADA@example.com"), ("sms", "00442079460958"), ("email", "y@example.com")
    )

    assert answer == (200, {"removed": 2, "missing": 1})
    assert await addresses(api) == ["x@example.com"]


@pytest.mark.parametrize("method", ["POST", "DELETE"])
async def test_every_entry_that_is_no_address_is_named_and_nothing_changes(api: Api, method: str) -> None:
    await suppress(api, "ada@example.com")

    status, answer = await send(
        api, method, ("email", "ada@example.com"), ("email", "nobody"), ("push", "x"), ("email", "grace@example.com")
    )

    assert status == 422
    assert set(answer["errors"]) == {"suppressions.1.address", "suppressions.2.channel"}
    assert await addresses(api) == ["ada@example.com"]


async def test_a_call_has_at_most_a_thousand(api: Api) -> None:
    many = [("email", f"p{number}@example.com") for number in range(1_001)]

    assert (await send(api, "POST", *many))[0] == 422
    assert await send(api, "POST", *many[:1_000]) == (200, {"added": 1_000, "existing": 0})
    assert await send(api, "DELETE", *many[:1_000]) == (200, {"removed": 1_000, "missing": 0})


async def test_one_entry_of_the_audit_log_has_the_numbers_and_no_address(api: Api) -> None:
    await send(api, "POST", ("email", "ada@example.com"), ("email", "grace@example.com"), ("sms", "+442079460958"))

    (entry,) = [one for one in await list_entries(api) if one["action"] == "suppression.create"]

    assert entry["after"] == {"email": 2, "sms": 1}
    assert "@" not in str(entry)


async def test_all_are_exported_in_pages_the_oldest_first(api: Api, clock: ManualClock, other_api: Api) -> None:
    await suppress(other_api, "foreign@example.com")
    for number in range(3):
        await send(api, "POST", ("email", f"b{number}@example.com"), ("email", f"a{number}@example.com"))
        clock.move(SECOND)
    await send(api, "POST", ("sms", "+442079460958"))

    pages = await export(api, limit=2)

    expected = [f"{letter}{number}@example.com" for number in range(3) for letter in "ab"]
    assert pages == [expected[:2], expected[2:4], expected[4:], ["442079460958"]]
    assert await export(api, channel="sms") == [["442079460958"]]
    assert await export(api, reason="bounced") == [[]]


@pytest.mark.parametrize(
    "after", ["x", "!", "W10", "WzEsImEiXQ", "Wzk5OTk5OTk5OTk5OTk5OTk5OTksImEiLCJiIl0", "WzEsIlx1MDAwMCIsImEiXQ"]
)
async def test_an_export_goes_on_only_from_its_own_pages(api: Api, after: str) -> None:
    response = await api.get("/v1/suppressions/export", params={"after": after})

    assert (response.status_code, set(response.json()["errors"])) == (422, {"after"})


async def test_bulks_need_their_scopes(make_api: MakeApi) -> None:
    reader = await make_api(scopes=frozenset({Scope.MESSAGES_READ}))
    writer = await make_api(scopes=frozenset({Scope.MESSAGES_WRITE}))

    assert [(await send(reader, method, ("sms", "+442079460958")))[0] for method in ("POST", "DELETE")] == [403] * 2
    assert (await writer.get("/v1/suppressions/export")).status_code == 403


async def test_an_export_walks_the_index_of_moments(database: Database, site: Site) -> None:
    plan = await explain(
        database,
        following_query(()),
        environment_id=site.development.id,
        after_moment=0,
        after_address="",
        after_channel="",
        limit=10,
    )

    assert "suppressions_recent" in plan, plan
