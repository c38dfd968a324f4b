"""Search in subscribers: contains, case sensitive, all conditions together."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clarion.clock import Millis
from clarion.db.port import Database
from clarion.ids import new_id
from clarion.subscribers.model import CONTACT_FIELDS
from clarion.subscribers.search import choose_trigrams
from clarion.subscribers.store import INSERT_SUBSCRIBER
from tests.support import Api

PEOPLE: list[dict[str, Any]] = [
    {"subscriberId": "u1", "firstName": "Ada", "lastName": "Lovelace", "email": "ada@example.com", "phone": "+4412345"},
    {"subscriberId": "u2", "firstName": "Alan", "lastName": "Turing", "email": "alan@example.com", "phone": "+4498765"},
    {"subscriberId": "u3", "firstName": "Grace", "email": "GRACE@navy.mil"},
    {"subscriberId": "u4", "lastName": 'O"Brien %_\\', "phone": "12"},
    {"subscriberId": "u5"},
]


QUEUE: list[dict[str, Any]] = [
    {"subscriberId": f"queue-{number}", "lastName": f"Queuing {number}"} for number in range(3)
]


@pytest.fixture
async def people(api: Api) -> None:
    await api.post("/v1/subscribers/bulk", json={"subscribers": PEOPLE})


async def found(api: Api, **query: str) -> list[str]:
    response = await api.get("/v2/subscribers", params={**query, "orderDirection": "ASC", "limit": "1000"})
    assert response.status_code == 200
    body = response.json()
    assert body["totalCount"] == len(body["data"])
    return sorted(one["subscriberId"] for one in body["data"])


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["u1", "u2", "u3", "u4", "u5"]),
        ({"email": "example.com"}, ["u1", "u2"]),
        ({"email": "ada@"}, ["u1"]),
        ({"email": "grace"}, []),
        ({"email": "GRACE"}, ["u3"]),
        ({"email": "@"}, ["u1", "u2", "u3"]),
        ({"phone": "+44"}, ["u1", "u2"]),
        ({"phone": "12"}, ["u1", "u4"]),
        ({"name": "Ada Lovelace"}, ["u1"]),
        ({"name": "a L"}, ["u1"]),
        ({"name": "Grace"}, ["u3"]),
        ({"name": "grace"}, []),
        ({"name": " Grace "}, ["u3"]),
        ({"name": 'O"Brien %_'}, ["u4"]),
        ({"name": "%"}, ["u4"]),
        ({"subscriberId": "u1"}, ["u1"]),
        ({"subscriberId": "u"}, []),
        ({"subscriberId": "U1"}, []),
        ({"email": "example", "name": "Alan"}, ["u2"]),
        ({"email": "example", "subscriberId": "u3"}, []),
        ({"email": "", "name": ""}, ["u1", "u2", "u3", "u4", "u5"]),
        ({"name": 'x" OR full_name : "Ada'}, []),
    ],
)
async def test_texts_are_found_where_they_stand(api: Api, query: dict[str, str], expected: list[str]) -> None:
    assert await found(api, **query) == expected


@pytest.mark.usefixtures("people")
async def test_the_index_follows_changes(api: Api) -> None:
    await api.patch("/v2/subscribers/u1", json={"firstName": "Augusta", "email": None})
    await api.delete("/v2/subscribers/u2")

    assert await found(api, name="Augusta") == ["u1"]
    assert await found(api, name="Ada") == []
    assert await found(api, email="example") == []


async def make_crowd(api: Api, database: Database, count: int) -> None:
    """Create enough subscribers that a search uses the index: Ada number 0, Ada number 1, …"""
    now = Millis(1)
    rows = [
        {
            **dict.fromkeys(CONTACT_FIELDS),
            "environment_id": api.environment.id,
            "id": new_id(now),
            "key": f"crowd-{number}",
            "first_name": "Ada",
            "last_name": f"Number {number:05}",
            "email": f"Ada.{number:05}@Example.com",
            "now": now,
        }
        for number in range(count)
    ]
    await database.transaction(lambda db: db.execute_many(INSERT_SUBSCRIBER, rows))


async def test_among_many_people_rare_and_common_texts_are_found_alike(api: Api, database: Database) -> None:
    await make_crowd(api, database, 300)
    await api.post("/v1/subscribers/bulk", json={"subscribers": PEOPLE})

    assert await found(api, name="ber 00123") == ["crowd-123"]
    assert await found(api, name="ber 00123", email="Ada.00123@") == ["crowd-123"]
    assert await found(api, name="ber 00123", email="Ada.00124@") == []
    assert await found(api, email="ada.00123@") == []
    assert await found(api, email="navy.mil") == ["u3"]
    assert await found(api, name='O"Brien') == ["u4"]
    assert await found(api, name="Grace Hopper") == []
    assert len(await found(api, name="Ada")) == 301
    assert len(await found(api, email="Example")) == 300


async def test_among_many_people_the_index_follows_changes_in_any_case(api: Api, database: Database) -> None:
    await make_crowd(api, database, 300)

    await api.patch("/v2/subscribers/crowd-150", json={"lastName": "McQUEEN", "email": "Steve@MOVIES.org"})

    assert await found(api, name="McQUEEN") == ["crowd-150"]
    assert await found(api, name="McQueen") == []
    assert await found(api, name="ber 00150") == []
    assert await found(api, email="Steve@MOVIES") == ["crowd-150"]
    assert await found(api, email="steve@movies") == []


async def test_pages_of_a_rare_text_lead_back_and_forth(api: Api, database: Database) -> None:
    await make_crowd(api, database, 300)
    await api.post("/v1/subscribers/bulk", json={"subscribers": [*PEOPLE, *QUEUE]})
    query = {"name": "Queuing", "limit": "2"}

    first = (await api.get("/v2/subscribers", params=query)).json()
    second = (await api.get("/v2/subscribers", params={**query, "after": first["next"]})).json()
    back = (await api.get("/v2/subscribers", params={**query, "before": second["previous"]})).json()

    assert [len(page["data"]) for page in (first, second)] == [2, 1]
    assert [page["totalCount"] for page in (first, second)] == [3, 3]
    assert (first["previous"], second["next"]) == (None, None)
    assert back["data"] == first["data"]


async def test_the_total_of_a_common_text_is_exact_where_people_are_not_very_many(api: Api, database: Database) -> None:
    await make_crowd(api, database, 3_000)

    page = (await api.get("/v2/subscribers", params={"name": "Ada"})).json()

    assert (page["totalCount"], page["totalCountCapped"]) == (3_000, False)


def test_the_trigrams_asked_for_are_rare_and_share_few_characters() -> None:
    others = ["ada@example.com", "alan@example.com"]

    assert choose_trigrams("grace@example.com", others) == ["gra", "ace", "e@e"]
    assert choose_trigrams("grace@example.com", [*others, "trace@navy.mil"]) == ["gra", "e@e", "ace"]
    assert choose_trigrams("abcdefghi", []) == ["abc", "cde", "efg"]
    assert choose_trigrams("abcd", []) == ["abc"]
    assert choose_trigrams("kakakaka", []) == ["kak"]
    assert choose_trigrams("ab", others) == []


@pytest.mark.parametrize(
    "name",
    [
        'Ann "Nan" O\'Brien',
        '"""',
        "a AND b OR NOT c*",
        "Zoë  Ångström",
        "李小龍先生",
        "👩‍👩‍👧 Ölaf",
        "aaaaaaaa",
        "{}:^-+()",
    ],
)
async def test_among_many_people_every_part_of_an_unusual_name_finds_it(
    api: Api, database: Database, name: str
) -> None:
    await make_crowd(api, database, 300)
    await api.post("/v2/subscribers", json={"subscriberId": "any", "firstName": None, "lastName": name})

    parts = {name[start:end].strip() for start in range(len(name)) for end in range(start + 1, len(name) + 1)} - {""}
    for part in parts:
        assert "any" in await found(api, name=part)
    assert await found(api, name=f"{name}!") == []


@pytest.mark.usefixtures("people")
async def test_other_environments_are_not_searched(other_api: Api) -> None:
    assert await found(other_api, email="example.com") == []


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12), data=st.data())
async def test_every_part_of_a_name_finds_it(api: Api, name: str, data: st.DataObject) -> None:
    await api.post("/v2/subscribers", json={"subscriberId": "any", "firstName": None, "lastName": name})
    trimmed = name.strip(" ")
    start = data.draw(st.integers(0, len(trimmed)))
    part = trimmed[start : data.draw(st.integers(start, len(trimmed)))]

    assert "any" in await found(api, name=part)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("limit=0", ["limit"]),
        ("limit=1001", ["limit"]),
        ("orderBy=email", ["orderBy"]),
        ("orderDirection=SIDEWAYS", ["orderDirection"]),
        ("after=not-a-cursor", ["after"]),
        ("before=%20", ["before"]),
        ("includeCursor=maybe", ["includeCursor"]),
    ],
)
async def test_bad_parameters_are_refused_by_name(api: Api, query: str, names: list[str]) -> None:
    response = await api.get(f"/v2/subscribers?{query}")

    assert response.status_code == 422
    assert list(response.json()["errors"]) == names


async def test_both_cursors_are_malformed(api: Api) -> None:
    assert (await api.get("/v2/subscribers?after=x&before=y")).status_code == 400
