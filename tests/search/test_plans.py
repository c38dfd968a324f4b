"""Each part of a search walks an index, and reads no whole table; on both databases."""

from collections.abc import AsyncIterator

import pytest

from clarion.db.port import Database, Dialect
from clarion.db.query import Query
from clarion.ids import new_id
from clarion.search import store
from clarion.search.model import SearchType
from clarion.subscribers import search
from tests.conftest import open_store
from tests.plans import explain
from tests.records import NOW, make_subscriber
from tests.support import Site

# By the name of the part: its indexes on PostgreSQL and on SQLite, and how often they are used.
WALKS: dict[str, tuple[Query, str, str, int]] = {
    "keys and addresses": (search.beginning_query(search.PEOPLE, 3), "subscribers_", "subscribers_", 6),
    "newest people": (search.LIST_NEWEST_PEOPLE, "subscribers_pkey", "sqlite_autoindex_subscribers_1", 1),
    "topic keys": (search.beginning_query(store.TOPICS, 2), "topics_key", "topics_key", 2),
    "transactions": (
        search.beginning_query(store.TRIGGERS, 2),
        *("triggers_transaction", "triggers_transaction", 2),
    ),
    "workflows": (store.LIST_WORKFLOWS, "workflows_pkey", "sqlite_autoindex_workflows_1", 1),
    "integrations": (store.LIST_INTEGRATIONS, "integrations_pkey", "sqlite_autoindex_integrations_1", 1),
    "endpoints": (store.LIST_ENDPOINTS, "webhook_endpoints_pkey", "sqlite_autoindex_webhook_endpoints_1", 1),
    "provider ids": (store.FIND_BY_PROVIDER_ID, "messages_provider", "messages_provider", 1),
}


@pytest.fixture(scope="module")
async def database(
    backend: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Database]:
    """A store of its own: PostgreSQL plans by statistics, and those of a shared store come from other tests."""
    async with open_store(backend, request, tmp_path_factory) as opened:
        yield opened


def parameters(site: Site, query: Query) -> dict[str, object]:
    given = {
        **dict.fromkeys((f"form_{number}" for number in range(3)), "ada"),
        **dict.fromkeys(("text", "word", "folded"), "ada"),
        **{name: ["ada", "Ada"] for name in ("gram_0", "gram_1")},
        "environment_id": site.development.id,
        "id": new_id(NOW),
        "limit": 20,
        "max_rows": 1000,
        "newest": 1000,
    }
    return {name: value for name, value in given.items() if name in query.names}


@pytest.mark.parametrize("part", WALKS)
async def test_a_part_walks_its_index(database: Database, site: Site, part: str) -> None:
    await make_subscriber(database, site.development)
    query, on_postgres, on_sqlite, times = WALKS[part]

    plan = await explain(database, query, **parameters(site, query))

    index = on_sqlite if database.dialect is Dialect.SQLITE else on_postgres
    assert plan.count(index) == times, plan
    assert "Seq Scan" not in plan, plan
    assert "Sort" not in plan, plan
    assert "TEMP B-TREE" not in plan, plan


async def test_an_id_is_looked_up_by_the_key_of_each_table(database: Database, site: Site) -> None:
    query = store.id_query(tuple(SearchType))

    plan = await explain(database, query, **parameters(site, query))

    assert "Seq Scan" not in plan, plan
    assert "SCAN t" not in plan, plan
    assert plan.count("SEARCH t USING") in (0, len(SearchType)), plan


async def test_texts_are_looked_up_in_the_text_index(database: Database, site: Site) -> None:
    query = search.gram_query(database.dialect, 2, is_ascii=True)
    is_sqlite = database.dialect is Dialect.SQLITE

    plan = await explain(
        database, query, **parameters(site, query), grams='"ada" AND "dal"' if is_sqlite else ["ada", "dal"]
    )

    assert "Seq Scan" not in plan, plan
    # PostgreSQL reads all people of an environment that has few.
    assert not is_sqlite or "VIRTUAL TABLE INDEX" in plan, plan
    assert not is_sqlite or "subscribers_search_row" in plan, plan


async def test_names_of_topics_are_read_from_the_newest_on(database: Database, site: Site) -> None:
    query = store.topic_query(database.dialect)

    plan = await explain(database, query, **parameters(site, query))

    assert "topics_pkey" in plan or "sqlite_autoindex_topics_1" in plan, plan
    assert "Seq Scan" not in plan, plan
    assert "Sort" not in plan, plan
