"""Counting members, and finding a subscription by its identifier, walk their indexes on both databases."""

from collections.abc import AsyncIterator

import pytest

from clarion.db.port import Database
from clarion.ids import new_id
from clarion.topics.store import COUNT_MEMBERS
from clarion.topics.subscriptions import LIST_BY_IDENTIFIER
from tests.conftest import open_store
from tests.plans import explain
from tests.records import NOW
from tests.support import Site


@pytest.fixture(scope="module")
async def database(
    backend: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Database]:
    """A store of its own: PostgreSQL plans by statistics, and those of a shared store come from other tests."""
    async with open_store(backend, request, tmp_path_factory) as opened:
        yield opened


async def test_counting_walks_the_index_of_members(database: Database, site: Site) -> None:
    plan = await explain(database, COUNT_MEMBERS, environment_id=site.development.id, topic_id=new_id(NOW), limit=1_000)

    assert "topic_subscriptions_member" in plan, plan
    assert "Seq Scan" not in plan, plan


async def test_a_chosen_identifier_is_found_without_reading_the_topic(database: Database, site: Site) -> None:
    wanted = {"environment_id": site.development.id, "topic_id": new_id(NOW), "identifier": "ada-sales"}

    plan = await explain(database, LIST_BY_IDENTIFIER, **wanted)

    assert "topic_subscriptions_identifier" in plan, plan
    assert "Seq Scan" not in plan, plan
