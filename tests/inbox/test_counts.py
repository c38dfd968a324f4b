"""The counts of inboxes, on both databases."""

from typing import Any

import pytest

from clarion.clock import Millis
from clarion.db.port import Database
from clarion.ids import SubscriberId
from clarion.inbox.counts import COUNT_INBOX, InboxCounts, count_inbox
from clarion.vocabulary import Channel, Severity
from tests.plans import explain
from tests.records import NOW, make_job, make_message, make_notification, make_subscriber
from tests.support import Site


async def count(database: Database, site: Site, *ids: SubscriberId) -> dict[SubscriberId, InboxCounts]:
    return await database.read(lambda db: count_inbox(db, site.development.id, ids))


async def test_counts_leave_out_what_is_read_archived_snoozed_or_of_another_channel(
    database: Database, site: Site
) -> None:
    ada = await make_subscriber(database, site.development)
    kept: list[dict[str, Any]] = [
        {"severity": Severity.HIGH},
        {"severity": Severity.HIGH, "seen": True},
        {"severity": Severity.LOW, "seen": True},
        {},
    ]
    for columns in (
        *kept,
        {"read": True, "seen": True},
        {"archived": True},
        {"snoozed_until": Millis(NOW + 1)},
        {"channel": Channel.EMAIL},
    ):
        await make_message(database, site.development, subscriber=ada, **columns)

    counts = (await count(database, site, ada.id))[ada.id]

    assert counts == InboxCounts(
        unread={Severity.HIGH: 2, Severity.MEDIUM: 0, Severity.LOW: 1, Severity.NONE: 1},
        unseen=2,
        has_more_unread=False,
        has_more_unseen=False,
    )
    assert counts.total_unread == 4


async def test_counts_of_several_people_are_found_together(database: Database, site: Site) -> None:
    people = [await make_subscriber(database, site.development, key) for key in ("ada", "ben", "cleo")]
    stranger = await make_subscriber(database, site.production, "ada")
    for person in people[:2]:
        await make_message(database, site.development, subscriber=person)
    await make_message(database, site.production, subscriber=stranger)

    found = await count(database, site, *[one.id for one in people], stranger.id)

    assert {one: counts.total_unread for one, counts in found.items()} == {
        people[0].id: 1,
        people[1].id: 1,
        people[2].id: 0,
    }


async def test_counts_end_at_a_hundred_and_say_that_there_are_more(database: Database, site: Site) -> None:
    ada = await make_subscriber(database, site.development)
    run = await make_notification(database, site.development, subscriber=ada)
    job = await make_job(database, site.development, notification=run)
    for number in range(160):
        severity = Severity.HIGH if number < 120 else Severity.LOW
        await make_message(database, site.development, job=job, severity=severity, seen=number % 2 == 0)

    counts = (await count(database, site, ada.id))[ada.id]

    assert counts.unread == {Severity.HIGH: 100, Severity.MEDIUM: 0, Severity.LOW: 40, Severity.NONE: 0}
    assert (counts.total_unread, counts.has_more_unread) == (100, True)
    assert (counts.unseen, counts.has_more_unseen) == (80, False)


@pytest.mark.parametrize(
    ("made", "shown", "has_more"), [(99, 99, False), (100, 100, False), (101, 100, True), (102, 100, True)]
)
@pytest.mark.parametrize("severities", [(Severity.NONE,), tuple(Severity)])
async def test_only_more_than_a_hundred_are_said_to_be_more(
    database: Database, site: Site, severities: tuple[Severity, ...], made: int, shown: int, *, has_more: bool
) -> None:
    ada = await make_subscriber(database, site.development)
    run = await make_notification(database, site.development, subscriber=ada)
    job = await make_job(database, site.development, notification=run)
    for number in range(made):
        await make_message(database, site.development, job=job, severity=severities[number % len(severities)])

    counts = (await count(database, site, ada.id))[ada.id]

    assert (counts.total_unread, counts.has_more_unread) == (shown, has_more)
    assert (counts.unseen, counts.has_more_unseen) == (shown, has_more)


async def test_counts_walk_the_index_of_unread_messages(database: Database, site: Site) -> None:
    ada = await make_subscriber(database, site.development)

    plan = await explain(database, COUNT_INBOX, environment_id=site.development.id, subscriber_ids=[ada.id])

    assert plan.count("messages_unread") == len(Severity)
    assert "Sort" not in plan
    assert "B-TREE" not in plan
