"""Offset pages: the limits of totals and offsets, and lists that are merged from parts."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.listing import MAX_COUNT, SAMPLE_ROWS, Listing
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.errors import Invalid
from clarion.http.pages import MAX_OFFSET, CursorQuery, OffsetPage, list_cursor_page, list_offset_page
from clarion.ids import EnvironmentId, new_id
from clarion.topics import store

KEEP_FOUR = sql("DELETE FROM topics WHERE environment_id = :environment_id AND (length(key) > 1 OR key > '3')")


async def make_rows(database: Database, count: int) -> Listing:
    """A list of `count` rows."""
    environment_id, now = EnvironmentId(new_id(Millis(1))), Millis(1)
    rows = [
        {
            "environment_id": environment_id,
            "id": new_id(now),
            "key": f"{number}",
            "name": None,
            "is_open": False,
            "creator_id": None,
            "now": now,
        }
        for number in range(count)
    ]
    await database.transaction(lambda db: db.execute_many(store.INSERT_TOPIC, rows))
    return store.topics_listing(environment_id, key=None, name=None)


async def offset_page(database: Database, listing: Listing, *, page: int, limit: int = 10) -> OffsetPage[bytes]:
    async def work(db: Connection) -> OffsetPage[bytes]:
        return await list_offset_page(db, listing, page=page, limit=limit, render=lambda row: bytes(row["id"]))

    return await database.scan(work)


def squared(listing: Listing) -> Listing:
    """The list joined with itself: n rows become n²."""
    return replace(
        listing,
        source="topics AS t CROSS JOIN topics AS other",
        where="t.environment_id = :environment_id AND other.environment_id = :environment_id",
    )


async def test_totals_of_offset_pages_are_exact_up_to_fifty_thousand_and_then_left_out(database: Database) -> None:
    full = await offset_page(database, squared(await make_rows(database, 223)), page=0)
    longer = squared(await make_rows(database, 224))

    assert (full.total_count, full.has_more) == (223 * 223, True)
    assert 223 * 223 < MAX_COUNT < 224 * 224
    for page in (0, 1):
        found = await offset_page(database, longer, page=page)
        assert (found.total_count, found.has_more) == (UNSET, True)


async def test_a_page_too_deep_in_a_long_list_is_refused_and_beyond_a_short_one_it_is_empty(database: Database) -> None:
    short = await make_rows(database, 3)
    long = squared(await make_rows(database, 317))

    beyond = await offset_page(database, short, page=1_000_000_000)
    with pytest.raises(Invalid, match="page lies beyond the first 100000 items"):
        await offset_page(database, long, page=MAX_OFFSET // 10 + 1)

    assert (beyond.total_count, beyond.has_more, beyond.data) == (3, False, [])


@given(parts=st.lists(st.sets(st.integers(0, 9)), max_size=4), page=st.integers(0, 4), limit=st.integers(1, 4))
@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_parts_of_a_list_are_merged_newest_first(
    database: Database, parts: list[set[int]], page: int, limit: int
) -> None:
    listing = await make_rows(database, 10)
    apart = [part - set().union(*parts[:place]) for place, part in enumerate(parts)]
    conditions = [f"t.key IN ({', '.join(repr(str(one)) for one in part) or 'NULL'})" for part in apart]

    found = await offset_page(database, replace(listing, parts=conditions), page=page, limit=limit)
    everything = await offset_page(database, listing, page=0)

    newest_first = [everything.data[9 - one] for one in sorted(set().union(*apart), reverse=True)]
    assert found.data == newest_first[page * limit : (page + 1) * limit]
    assert found.total_count == len(newest_first)
    assert found.has_more == (len(newest_first) > (page + 1) * limit)


async def total_of(database: Database, listing: Listing) -> tuple[int, bool]:
    """The total of a cursor page, and whether it is capped."""
    page = await database.scan(
        lambda db: list_cursor_page(db, listing, CursorQuery(limit=1), render=lambda row: bytes(row["id"]))
    )
    return page.total_count, page.total_count_capped


def without(listing: Listing, key: str) -> Listing:
    """The rows with another key, by an unindexed condition."""
    return replace(listing, unindexed="t.key <> :text", parameters={**listing.parameters, "text": key})


async def test_unindexed_matches_in_a_very_long_list_are_counted_among_its_newest_rows(database: Database) -> None:
    long = squared(await make_rows(database, 224))
    short = squared(await make_rows(database, 4))

    assert await total_of(database, without(long, "nobody")) == (SAMPLE_ROWS, True)
    assert await total_of(database, without(short, "nobody")) == (16, False)
    assert await total_of(database, without(short, "0")) == (12, False)


async def test_that_a_list_is_very_long_is_cached_for_other_unindexed_conditions_too(database: Database) -> None:
    long = squared(await make_rows(database, 224))
    await total_of(database, without(long, "nobody"))

    await database.transaction(lambda db: db.execute(KEEP_FOUR, **long.parameters))

    assert await total_of(database, without(long, "0")) == (12, True)
