"""Lists of one person walk an index in the order of positions, and sort nothing; on both databases."""

import re

import pytest

from clarion.db.listing import select_ids
from clarion.db.port import Connection, Database, Dialect
from clarion.db.postgres.database import PostgresDatabase
from clarion.db.query import sql
from clarion.ids import new_id
from clarion.inbox.conditions import Extent
from clarion.inbox.counts import COUNT_INBOX
from clarion.inbox.filters import InboxFilter
from clarion.inbox.gathered import count_query
from clarion.inbox.listing import page_query
from clarion.messages.filters import filter_feed, filter_messages
from clarion.messages.wire import MessageQuery
from clarion.vocabulary import Channel, Severity
from tests.plans import explain, explain_as_is
from tests.records import NOW, make_subscriber
from tests.support import Site

# Unread messages of as many people.
MAKE_MESSAGES = sql("""
    INSERT INTO messages (
        environment_id, id, notification_id, job_id, trigger_id, workflow_id, step_id, subscriber_id, position,
        channel, status, content, severity, seen, read, archived, created_at, updated_at
    )
    SELECT
        :environment_id, id, id, id, :environment_id, id, id, gen_random_uuid(), id,
        'in_app', 'sent', 'Hello', 'none', FALSE, FALSE, FALSE, 0, 0
    FROM (SELECT lpad(to_hex(number), 32, '0')::uuid AS id FROM generate_series(1, :count) AS number) AS made
""")


@pytest.mark.parametrize(
    ("wanted", "index", "walks"),
    [
        (InboxFilter(archived=False, snoozed=False), "messages_subscriber", 1),
        (InboxFilter(archived=True), "messages_subscriber", 1),
        (InboxFilter(), "messages_subscriber", 2),
        (InboxFilter(read=False, snoozed=False), "messages_unread", 8),
        (InboxFilter(read=False, snoozed=False, severities=(Severity.HIGH,)), "messages_unread", 2),
        (InboxFilter(snoozed=True), "messages_snoozed", 1),
    ],
)
async def test_views_of_the_inbox(database: Database, site: Site, wanted: InboxFilter, index: str, walks: int) -> None:
    ada = await make_subscriber(database, site.development)
    plan = await explain(
        database,
        page_query(database.dialect, wanted, Extent(11), has_after=True),
        environment_id=site.development.id,
        subscriber_id=ada.id,
        after=ada.id,
    )

    assert len(re.findall(f"(?:SEARCH t USING INDEX|Scan Backward using) {index}", plan)) == walks, plan
    assert "Sort  (" not in plan, plan
    # SQLite sorts the rows of the page itself once more.
    assert plan.count("USE TEMP B-TREE") <= (walks > 1), plan


@pytest.mark.parametrize("kind", ["feed", "messages", "messages of a channel"])
async def test_lists_of_servers(database: Database, site: Site, kind: str) -> None:
    ada = await make_subscriber(database, site.development)
    channel = Channel.EMAIL if kind == "messages of a channel" else None
    query = MessageQuery(subscriber_id="ada", channel=channel)
    listing = filter_feed(ada, NOW)
    if kind != "feed":
        listing = await database.read(lambda db: filter_messages(db, site.development.id, query))

    ids = sql(f"{select_ids(database.dialect, listing, 'DESC')} LIMIT :page_limit")
    plan = await explain(database, ids, **listing.parameters, page_limit=11, reach=11)

    walks = {"feed": 1, "messages": 2 * len(Channel), "messages of a channel": 2}[kind]
    assert plan.count("messages_subscriber") == walks, plan
    assert "Sort  (" not in plan
    assert "B-TREE" not in plan


@pytest.mark.parametrize("count", [120, 16_000])
async def test_unread_messages_are_found_by_person_before_there_are_statistics(
    migrated_postgres_url: str, count: int
) -> None:
    """PostgreSQL then takes the index with the fewest levels; for these counts others have fewer."""
    environment_id, subscriber_id, unread = new_id(NOW), new_id(NOW), InboxFilter(read=False, snoozed=False)
    page = page_query(Dialect.POSTGRES, unread, Extent(11), has_after=False)

    async def explain_all(db: Connection) -> list[str]:
        await db.execute(MAKE_MESSAGES, count=count, environment_id=environment_id)
        people = {"subscriber_ids": [subscriber_id]}
        return [
            await explain_as_is(db, COUNT_INBOX, environment_id=environment_id, **people),
            await explain_as_is(db, count_query((unread,)), environment_ids=[environment_id], **people),
            await explain_as_is(db, page, environment_id=environment_id, subscriber_id=subscriber_id),
        ]

    database = await PostgresDatabase.connect(migrated_postgres_url, pool_size=1)
    plans = await database.transaction(explain_all)
    await database.close()

    found = [re.findall(r"(?:using|on) (messages_\w+)", one) for one in plans]
    assert found == [["messages_unread"] * parts for parts in (4, 4, 8)], plans
