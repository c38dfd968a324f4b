"""Counts and first pages of many people in one statement: each gets what a statement for them alone finds."""

import asyncio
import itertools
import re
from functools import partial

import pytest

from clarion.clock import Millis
from clarion.db.port import Connection, Database, Dialect
from clarion.db.query import sql
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId, SubscriberId, new_id
from clarion.inbox import gathered
from clarion.inbox.filters import InboxFilter
from clarion.inbox.gathered import GatheredReads, OpenedInbox, count_query, first_page_query
from clarion.inbox.listing import FilterCounts, count_inbox_filters, list_inbox
from clarion.inbox.wire import RecipientOut
from clarion.messages.model import InboxOwner
from clarion.subscribers.model import Subscriber
from clarion.vocabulary import Channel, Severity
from tests.plans import explain
from tests.records import NOW, make_message, make_subscriber
from tests.support import Site

of_postgres = pytest.mark.parametrize("backend", ["postgresql"], indirect=True)

LIGHT = (
    InboxFilter(),
    InboxFilter(archived=False, snoozed=False),
    InboxFilter(archived=True),
    InboxFilter(snoozed=True),
    InboxFilter(read=False, snoozed=False),
    InboxFilter(read=False, snoozed=False, seen=True),
    InboxFilter(read=False, snoozed=False, severities=(Severity.HIGH, Severity.LOW), context_keys=()),
)


def owner_of(person: Subscriber) -> InboxOwner:
    return InboxOwner(person.environment_id, person.id)


async def make_people(database: Database, site: Site) -> list[Subscriber]:
    """Two people with messages in every state, one of another environment, and one without messages."""
    ada = await make_subscriber(database, site.development, "ada", first_name="Ada", data={"plan": "pro"})
    ben = await make_subscriber(database, site.development, "ben")
    stranger = await make_subscriber(database, site.production, "ada")
    states = itertools.product((False, True), (False, True), (None, Millis(NOW + 1)), (Severity.HIGH, Severity.NONE))
    for number, (read, archived, snoozed_until, severity) in enumerate(states):
        person = (ada, ben, ada)[number % 3]
        is_read = read or archived
        await make_message(
            database,
            site.development,
            subscriber=person,
            now=Millis(NOW + number),
            severity=severity,
            read=is_read,
            seen=is_read or number % 2 == 0,
            archived=archived,
            snoozed_until=snoozed_until,
            content=f"Message {number}",
        )
    await make_message(database, site.development, subscriber=ada, channel=Channel.EMAIL)
    await make_message(database, site.development, subscriber=ada, context_keys='["tenant:a"]')
    await make_message(database, site.production, subscriber=stranger, content="For a stranger")
    return [ada, ben, stranger, await make_subscriber(database, site.development, "nobody")]


@of_postgres
@pytest.mark.parametrize("wanted", LIGHT, ids=str)
async def test_a_gathered_page_is_that_of_the_person_alone(database: Database, site: Site, wanted: InboxFilter) -> None:
    people = await make_people(database, site)
    reads = GatheredReads(database)

    opened = await asyncio.gather(*(reads.open(owner_of(one), wanted, 3) for one in [*people, people[0]]))

    assert opened[-1] == opened[0]
    for person, found in zip(people, opened, strict=False):
        page = await database.read(lambda db, person=person: list_inbox(db, person, wanted, limit=3))  # type: ignore[misc]
        assert found is not None
        assert found.page.messages == page.messages
        assert found.page.has_more is page.has_more
        assert found.to == RecipientOut.of(person)
        assert set(found.workflows) == {one.workflow_id for one in page.messages}


@of_postgres
async def test_gathered_counts_are_those_of_the_person_alone(database: Database, site: Site) -> None:
    people = await make_people(database, site)
    reads = GatheredReads(database)

    counted = await asyncio.gather(*(reads.count(owner_of(one), LIGHT) for one in people))

    alone = [
        await database.read(
            lambda db, one=one: count_inbox_filters(db, one.environment_id, one.id, LIGHT)  # type: ignore[misc]
        )
        for one in people
    ]
    assert counted == alone
    assert any(any(one.counts) for one in counted if one is not None)


@of_postgres
async def test_somebody_who_does_not_exist_takes_nothing_from_the_others(database: Database, site: Site) -> None:
    ada = await make_subscriber(database, site.development)
    await make_message(database, site.development, subscriber=ada)
    unknown = SubscriberId(new_id(NOW))
    owners = [
        InboxOwner(site.development.id, unknown),
        InboxOwner(site.production.id, ada.id),
        owner_of(ada),
    ]
    reads = GatheredReads(database)

    counted = await asyncio.gather(*(reads.count(one, (InboxFilter(),)) for one in owners))
    opened = await asyncio.gather(*(reads.open(one, InboxFilter(), 10) for one in owners))

    assert counted == [None, None, FilterCounts([1], 0)]
    assert opened[:2] == [None, None]
    assert opened[2] is not None
    assert len(opened[2].page.messages) == 1


@of_postgres
@pytest.mark.parametrize(("limit", "people_at_once"), [(10, 18), (100, 1)])
async def test_requests_that_arrive_while_a_statement_runs_share_the_next(
    database: Database, site: Site, monkeypatch: pytest.MonkeyPatch, limit: int, people_at_once: int
) -> None:
    people = [await make_subscriber(database, site.development, f"person-{number}") for number in range(40)]
    sizes: list[int] = []
    read_pages = gathered.first_pages_of_people

    async def note_size(db: Connection, owners: list[InboxOwner], **options: object) -> dict[int, OpenedInbox]:
        sizes.append(len(owners))
        return await read_pages(db, owners, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(gathered, "first_pages_of_people", note_size)
    reads = GatheredReads(database)

    await asyncio.gather(*(reads.open(owner_of(one), InboxFilter(), limit) for one in people))

    assert sum(sizes) == 40
    assert max(sizes) == people_at_once
    # The first batch may begin before the others have arrived.
    assert len(sizes) <= 40 // people_at_once + 2


@of_postgres
async def test_an_error_reaches_everybody_who_waits_and_nobody_later(
    database: Database, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = owner_of(await make_subscriber(database, site.development))
    reads = GatheredReads(database)

    async def fail(_: object) -> None:
        raise StoreUnavailable("lost")

    with monkeypatch.context() as patched:
        patched.setattr(database, "read", fail)
        outcomes = await asyncio.gather(*(reads.count(ada, (InboxFilter(),)) for _ in range(3)), return_exceptions=True)

    assert [type(one) for one in outcomes] == [StoreUnavailable] * 3
    assert await reads.count(ada, (InboxFilter(),)) == FilterCounts([0], 0)


async def test_only_light_filters_on_postgresql_are_gathered(database: Database) -> None:
    reads = GatheredReads(database)

    assert all(reads.can_gather(one) is (database.dialect is Dialect.POSTGRES) for one in LIGHT)
    assert not reads.can_gather(InboxFilter(), InboxFilter(tags=(("news",),)))


@of_postgres
async def test_gathered_reads_walk_the_indexes_of_one_person(database: Database, site: Site) -> None:
    ada = owner_of(await make_subscriber(database, site.development))
    people = {"environment_ids": [ada.environment_id], "subscriber_ids": [ada.subscriber_id]}
    page_of_ten = first_page_query(InboxFilter(archived=False, snoozed=False), 10)

    counts = await explain(database, count_query((InboxFilter(read=False, snoozed=False),)), **people)
    page = await explain(database, page_of_ten, **people)

    assert len(re.findall("Scan using messages_unread", counts)) == len(Severity), counts
    assert len(re.findall("Scan Backward using messages_subscriber", page)) == 1, page
    assert "Sort  (" not in counts + page
    assert "Seq Scan" not in counts + page


@of_postgres
async def test_messages_of_an_earlier_version_have_no_position_and_are_shown(database: Database, site: Site) -> None:
    ada = await make_subscriber(database, site.development)
    await make_message(database, site.development, subscriber=ada)
    await database.transaction(lambda db: db.execute(sql("UPDATE messages SET position = NULL")))

    opened = await GatheredReads(database).open(owner_of(ada), InboxFilter(archived=False), 10)

    assert opened is not None
    assert len(opened.page.messages) == 1


async def copy_messages(db: Connection, environment_ids: list[EnvironmentId]) -> None:
    """Give people so many messages that a plan for the first few of them is cheaper than one for any number."""
    await db.execute(
        sql("""
            INSERT INTO messages SELECT copied.*
            FROM messages AS m, generate_series(1, 100) AS number, LATERAL jsonb_populate_record(
                m, jsonb_build_object('id', gen_random_uuid(), 'job_id', gen_random_uuid(), 'updated_at', number)
            ) AS copied
            WHERE m.environment_id {any:environment_ids}
        """),
        environment_ids=environment_ids,
    )
    await db.execute(sql("ANALYZE messages"))


@of_postgres
async def test_postgresql_plans_gathered_reads_once(database: Database, site: Site) -> None:
    people = await make_people(database, site)
    environment_ids = [site.development.id, site.production.id]
    await database.transaction(partial(copy_messages, environment_ids=environment_ids))
    wanted = InboxFilter(archived=False, snoozed=False, context_keys=())
    counts, page = count_query((wanted,)), first_page_query(wanted, 10)

    async def read_often(db: Connection) -> dict[str, int]:
        for number in range(20):
            owners = [owner_of(one) for one in people[: 1 + number % len(people)]]
            await gathered.count_of_people(db, owners, filters=(wanted,))
            await gathered.first_pages_of_people(db, owners, wanted=wanted, limit=10)
        rows = await db.fetch(sql("SELECT statement, custom_plans FROM pg_prepared_statements"))
        return {row["statement"]: row["custom_plans"] for row in rows}

    planned = await database.read(read_often)

    # It plans the first five executions for their values.
    assert planned[counts.postgres] <= 5
    assert planned[page.postgres] <= 5
