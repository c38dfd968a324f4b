"""Contexts: a session has the messages of exactly its own, in lists, counts and changes."""

import pytest

from clarion.db.port import Database
from clarion.inbox.counts import count_inbox
from tests.inbox.conftest import MakePerson, Person
from tests.inbox.test_notifications import counted, listed, make
from tests.support import Api


async def test_a_session_has_the_messages_of_exactly_its_contexts(
    ada: Person, make_person: MakePerson, database: Database, api: Api
) -> None:
    plain = await make(database, ada)
    acme = await make(database, ada, context_keys='["tenant:acme"]')
    both = await make(database, ada, context_keys='["app:shop","tenant:acme"]')
    of_acme = await make_person("ada", context_keys=("tenant:acme",))
    of_both = await make_person("ada", context_keys=("tenant:acme", "app:shop"))
    unread = {"read": False, "snoozed": False, "archived": False}

    for person, own in ((ada, plain), (of_acme, acme), (of_both, both)):
        assert await listed(person) == [own.text]
        assert await counted(person, {}, unread) == [1, 1]
        for other in [one for one in (plain, acme, both) if one is not own]:
            assert (await person.patch(f"/v1/inbox/notifications/{other.text}/read")).status_code == 404
            assert (await person.delete(f"/v1/inbox/notifications/{other.text}/delete")).status_code == 404
    await of_acme.post("/v1/inbox/notifications/read")
    found = (await api.get("/v2/subscribers/ada/notifications")).json()["data"]
    assert {one["id"]: one["isRead"] for one in found} == {plain.text: False, acme.text: True, both.text: False}
    only = (await api.get("/v2/subscribers/ada/notifications?contextKeys=tenant:acme")).json()["data"]
    assert [one["id"] for one in only] == [acme.text]


@pytest.mark.parametrize(
    ("context_keys", "expected"), [((), 1), (("tenant:acme",), 2), (("tenant:acme", "app:shop"), 3), (("other:x",), 0)]
)
async def test_the_counts_are_those_of_exactly_the_contexts(
    ada: Person, database: Database, context_keys: tuple[str, ...], expected: int
) -> None:
    plain = await make(database, ada)
    for stored, count in (('["tenant:acme"]', 2), ('["app:shop","tenant:acme"]', 3)):
        for _ in range(count):
            await make(database, ada, context_keys=stored)
    person = plain.job.notification.subscriber.id

    counts = await database.read(lambda db: count_inbox(db, ada.environment.id, [person], context_keys=context_keys))

    assert counts[person].total_unread == counts[person].unseen == expected
