"""Cursor pages, tested with the list of topics on both databases."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from clarion.clock import ManualClock, Millis
from clarion.db.listing import MAX_COUNT, Listing
from clarion.db.port import Connection, Database
from clarion.http.pages import CursorPage, CursorQuery, list_cursor_page
from clarion.ids import EnvironmentId, new_id
from clarion.topics import store
from tests.support import Api

_numbers = itertools.count(1)


async def make_topic(api: Api, name: str = "Topic") -> dict[str, Any]:
    response = await api.post("/v2/topics", json={"key": f"topic-{next(_numbers)}", "name": name})
    assert response.status_code == 201
    topic: dict[str, Any] = response.json()
    return topic


async def make_topics(api: Api, count: int) -> list[str]:
    """The `_id`s of new topics, oldest first."""
    return [(await make_topic(api))["_id"] for _ in range(count)]


async def rename(api: Api, topic: dict[str, Any], name: str) -> dict[str, Any]:
    renamed: dict[str, Any] = (await api.patch(f"/v2/topics/{topic['key']}", json={"name": name})).json()
    return renamed


async def get_page(api: Api, **query: Any) -> dict[str, Any]:
    response = await api.get("/v2/topics", params=query)
    assert response.status_code == 200, response.text
    page: dict[str, Any] = response.json()
    return page


def ids(page: dict[str, Any]) -> list[str]:
    return [item["_id"] for item in page["data"]]


async def test_an_empty_list_has_no_cursors(api: Api) -> None:
    assert await get_page(api) == {
        "data": [],
        "next": None,
        "previous": None,
        "totalCount": 0,
        "totalCountCapped": False,
    }


async def test_a_page_has_ten_items_newest_first_unless_asked_otherwise(api: Api) -> None:
    made = await make_topics(api, 11)

    page = await get_page(api)

    assert ids(page) == made[:0:-1]
    assert page["totalCount"] == 11


async def test_paging_forward_and_back_returns_the_same_items(api: Api) -> None:
    made = await make_topics(api, 7)
    query: dict[str, Any] = {"limit": 3, "orderDirection": "ASC"}

    first = await get_page(api, **query)
    second = await get_page(api, **query, after=first["next"])
    third = await get_page(api, **query, after=second["next"])
    back = await get_page(api, **query, before=third["previous"])
    start = await get_page(api, **query, before=back["previous"])

    assert [ids(first), ids(second), ids(third)] == [made[:3], made[3:6], made[6:]]
    assert (first["previous"], third["next"]) == (None, None)
    assert back == second
    assert start == first


async def test_a_page_survives_the_deletion_of_its_cursors_item(api: Api) -> None:
    topics = [await make_topic(api) for _ in range(5)]
    made = [topic["_id"] for topic in topics]
    first = await get_page(api, limit=2, orderDirection="ASC")
    await api.delete(f"/v2/topics/{topics[1]['key']}")

    following = await get_page(api, limit=2, orderDirection="ASC", after=first["next"])
    inclusive = await get_page(api, limit=2, orderDirection="ASC", after=first["next"], includeCursor="true")
    by_plain_id = await get_page(api, limit=2, orderDirection="ASC", after=made[1])

    assert ids(following) == ids(inclusive) == ids(by_plain_id) == made[2:4]
    assert ids(await get_page(api, orderDirection="ASC", before=following["previous"])) == made[:1]


async def test_include_cursor_adds_its_item_and_none_that_were_updated_at_the_same_time(api: Api) -> None:
    made = await make_topics(api, 5)
    query: dict[str, Any] = {"orderBy": "updatedAt", "orderDirection": "ASC", "includeCursor": "true"}

    assert ids(await get_page(api, **query, after=made[2])) == made[2:]
    assert ids(await get_page(api, **query, before=made[2])) == made[:3]


async def test_a_plain_id_is_the_current_position_of_its_item(api: Api, clock: ManualClock) -> None:
    topics = []
    for _ in range(4):
        topics.append(await make_topic(api))
        clock.move(1000)
    made = [topic["_id"] for topic in topics]
    await rename(api, topics[0], "Changed")

    page = await get_page(api, orderBy="updatedAt", orderDirection="ASC", before=made[0])

    assert ids(page) == made[1:]
    assert ids(await get_page(api, orderBy="updatedAt", after=made[0])) == made[:0:-1]


async def test_a_cursor_keeps_its_position_when_its_item_is_updated(api: Api, clock: ManualClock) -> None:
    topics = [await make_topic(api) for _ in range(4)]
    made = [topic["_id"] for topic in topics]
    query: dict[str, Any] = {"limit": 2, "orderBy": "updatedAt", "orderDirection": "ASC"}
    first = await get_page(api, **query)
    clock.move(1000)
    await rename(api, topics[1], "Changed")

    following = await get_page(api, **query, after=first["next"])

    assert ids(following) == made[2:]
    assert ids(await get_page(api, **query, after=following["next"])) == [made[1]]


async def test_the_way_back_from_beyond_the_end_starts_with_the_last_item(api: Api) -> None:
    made = await make_topics(api, 3)

    beyond = await get_page(api, limit=2, orderDirection="ASC", after=made[-1])
    back = await get_page(api, limit=2, orderDirection="ASC", before=beyond["previous"])

    assert (ids(beyond), beyond["next"]) == ([], None)
    assert ids(back) == made[1:]


async def test_the_total_counts_what_the_filters_find_on_every_page(api: Api) -> None:
    for name in ("red", "blue", "red", "red"):
        await make_topic(api, name)

    first = await get_page(api, name="red", limit=2)
    second = await get_page(api, name="red", limit=2, after=first["next"])

    assert (first["totalCount"], second["totalCount"]) == (3, 3)
    assert len(second["data"]) == 1
    assert second["next"] is None


@pytest.mark.parametrize(("count", "total", "capped"), [(223, 223 * 223, False), (224, MAX_COUNT, True)])
async def test_totals_are_exact_up_to_fifty_thousand(database: Database, count: int, total: int, capped: bool) -> None:
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
    pairs = Listing(
        columns="t.id",
        source="topics AS t CROSS JOIN topics AS other",
        where="t.environment_id = :environment_id AND other.environment_id = :environment_id",
        parameters={"environment_id": environment_id},
    )

    async def work(db: Connection) -> CursorPage[bytes]:
        return await list_cursor_page(db, pairs, CursorQuery(limit=1), lambda row: bytes(row["id"]))

    page = await database.scan(work)

    assert (page.total_count, page.total_count_capped) == (total, capped)


async def test_two_cursors_at_once_are_refused(api: Api) -> None:
    (made,) = await make_topics(api, 1)

    assert (await api.get("/v2/topics", params={"after": made, "before": made})).status_code == 400


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("after", "nonsense"),
        ("before", "nonsense"),
        ("after", "ü"),
        ("after", "AAAA"),
        ("after", "lMIAxAEAwg"),
        ("after", "019a8a5e-7c00-7000-8000-00000000000g"),
        ("orderBy", "name"),
        ("orderDirection", "asc"),
        ("limit", "0"),
        ("limit", "101"),
        ("limit", "many"),
        ("includeCursor", "yes"),
    ],
)
async def test_a_parameter_that_is_not_valid_is_named(api: Api, name: str, value: str) -> None:
    refused = await api.get("/v2/topics", params={name: value})

    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == [name]


async def test_a_cursor_of_a_list_in_another_order_is_refused(api: Api) -> None:
    await make_topics(api, 2)
    page = await get_page(api, limit=1)

    refused = await api.get("/v2/topics", params={"orderBy": "updatedAt", "after": page["next"]})

    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == ["after"]


async def test_an_unknown_id_is_a_valid_position(api: Api, other_api: Api) -> None:
    (older,) = await make_topics(api, 1)
    (foreign,) = await make_topics(other_api, 1)
    (newer,) = await make_topics(api, 1)

    assert ids(await get_page(api, after=foreign)) == [older]
    assert ids(await get_page(api, before=foreign)) == [newer]


class Visit(Struct, frozen=True, kw_only=True):
    """A list, updates of it, and the page to request."""

    pauses: Sequence[int]
    renames: Sequence[tuple[int, int]]
    order_by: str
    direction: str
    limit: int
    side: str | None
    at: int
    plain: bool
    inclusive: bool
    fate: str


VISITS = st.builds(
    Visit,
    pauses=st.lists(st.integers(0, 1), min_size=1, max_size=6),
    renames=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), max_size=4),
    order_by=st.sampled_from(["_id", "updatedAt"]),
    direction=st.sampled_from(["ASC", "DESC"]),
    limit=st.integers(1, 4),
    side=st.sampled_from([None, "after", "before"]),
    at=st.integers(0, 5),
    plain=st.booleans(),
    inclusive=st.booleans(),
    fate=st.sampled_from(["unchanged", "renamed", "deleted"]),
)


class Model:
    """The expected pages: slices of a sorted Python list."""

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.items: dict[str, dict[str, Any]] = {}

    def place(self, item: dict[str, Any]) -> tuple[str, str]:
        return (item["updatedAt"] if self.visit.order_by == "updatedAt" else "", item["_id"])

    def sorted_ids(self) -> list[str]:
        down = self.visit.direction == "DESC"
        return [item["_id"] for item in sorted(self.items.values(), key=self.place, reverse=down)]

    def bounds(self, cursor: tuple[str, str] | None) -> tuple[int, int]:
        """The start and the end of the page in the whole list."""
        places = sorted((self.place(item) for item in self.items.values()), reverse=self.visit.direction == "DESC")
        if cursor is None:
            return 0, min(self.visit.limit, len(places))
        ahead = sum(1 for one in places if (one > cursor if self.visit.direction == "DESC" else one < cursor))
        here = cursor in places
        if self.visit.side == "after":
            start = ahead + (here and not self.visit.inclusive)
            return start, min(start + self.visit.limit, len(places))
        stop = ahead + (here and self.visit.inclusive)
        return max(0, stop - self.visit.limit), stop


@given(visit=VISITS)
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_every_page_is_a_slice_of_the_sorted_list(api: Api, clock: ManualClock, visit: Visit) -> None:
    marker = f"<list {next(_numbers)}>"
    model = await make_list(api, clock, visit, marker)
    query = {"name": marker, "limit": visit.limit, "orderBy": visit.order_by, "orderDirection": visit.direction}
    cursor, place = await make_cursor(api, clock, model, query)
    asked = {visit.side: cursor, "includeCursor": str(visit.inclusive).lower()} if visit.side else {}

    page = await get_page(api, **query, **asked)

    everything = model.sorted_ids()
    start, stop = model.bounds(place)
    assert ids(page) == everything[start:stop]
    assert (page["previous"] is None, page["next"] is None) == (start == 0, stop == len(everything))
    assert page["totalCount"] == len(everything)
    if page["next"]:
        following = await get_page(api, **query, after=page["next"])
        assert ids(following) == everything[stop : stop + visit.limit]
    if page["previous"]:
        preceding = await get_page(api, **query, before=page["previous"])
        assert ids(preceding) == everything[max(0, start - visit.limit) : start]


async def make_list(api: Api, clock: ManualClock, visit: Visit, marker: str) -> Model:
    model = Model(visit)
    for pause in visit.pauses:
        clock.move(pause)
        topic = await make_topic(api, marker)
        model.items[topic["_id"]] = topic
    for index, pause in visit.renames:
        clock.move(pause)
        await rename_in(api, model, list(model.items)[index % len(model.items)])
    return model


async def rename_in(api: Api, model: Model, id_: str) -> None:
    model.items[id_] = await rename(api, model.items[id_], model.items[id_]["name"] + "+")


async def make_cursor(
    api: Api, clock: ManualClock, model: Model, query: dict[str, Any]
) -> tuple[str | None, tuple[str, str] | None]:
    """A cursor at one of the items, and its position; the item is then renamed, deleted or left as it is."""
    visit = model.visit
    if visit.side is None:
        return None, None
    chosen = list(model.items.values())[visit.at % len(model.items)]
    around = await get_page(api, **query | {"limit": 1}, after=chosen["_id"], includeCursor="true")
    opaque = around["next"] or around["previous"]
    plain = visit.plain or opaque is None
    if visit.fate == "renamed":
        clock.move(1)
        await rename_in(api, model, chosen["_id"])
    elif visit.fate == "deleted" and not (plain and visit.order_by == "updatedAt"):
        # The plain id of a deleted item gives its creation time, but not when it was last updated.
        await api.delete(f"/v2/topics/{chosen['key']}")
        del model.items[chosen["_id"]]
    current = model.items.get(chosen["_id"], chosen)
    return (chosen["_id"], model.place(current)) if plain else (opaque, model.place(chosen))
