"""Pages by `after` while messages arrive, are read, snoozed and come back: nothing is skipped; on both databases."""

from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from clarion.clock import Millis
from clarion.db.port import Connection, Database
from clarion.environments.model import Environment
from clarion.inbox.snoozes import wake_due_messages
from tests.inbox.conftest import Person
from tests.inbox.test_notifications import make
from tests.records import NOW, MadeJob, MadeMessage, make_message

VIEWS = ("", "archived=false&snoozed=false", "read=false&snoozed=false", "snoozed=false")
CHANGES = st.sampled_from(("arrive", "read", "unread", "wake", "delete", "nothing"))


@settings(max_examples=12, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(
    count=st.integers(0, 12),
    limit=st.integers(1, 5),
    view=st.sampled_from(VIEWS),
    changes=st.lists(st.tuples(CHANGES, st.integers(0, 11)), max_size=8),
)
async def test_pages_show_everything_that_was_there_all_the_time(
    ada: Person, database: Database, count: int, limit: int, view: str, changes: list[tuple[str, int]]
) -> None:
    await ada.post("/v1/inbox/notifications/delete")
    first = await make(database, ada, severity="high", seen=True, read=True, archived=True)
    made = [await _arrive(database, ada.environment, first.job, number) for number in range(count)]
    kept, seen, after, left = {one.text for one in made}, [], "", list(changes)
    while True:
        page = (await ada.get(f"/v1/inbox/notifications?limit={limit}&{view}&{after}")).json()
        seen += [one["id"] for one in page["data"]]
        if not page["hasMore"]:
            break
        assert len(page["data"]) == limit
        after = f"after={page['data'][-1]['id']}"
        if left:
            kept -= await _change(ada, database, first.job, made, left.pop(0))

    own = [one for one in seen if one != first.text]
    assert kept <= set(own)
    # After a message that has come back from a snooze meanwhile, the list begins again: clients merge pages by id.
    untouched = [one for one in dict.fromkeys(own) if one in kept]
    assert untouched == [one.text for one in reversed(made) if one.text in kept]


async def _arrive(database: Database, environment: Environment, job: MadeJob, number: int) -> MadeMessage:
    severity = ("high", "medium", "low", "none")[number % 4]
    return await make_message(database, environment, job=job, severity=severity, seen=number % 3 == 0)


async def _change(
    ada: Person, database: Database, job: MadeJob, made: list[MadeMessage], change: tuple[str, int]
) -> set[str]:
    """Change the inbox between two pages; returns the messages that need not be seen any more."""
    kind, number = change
    if kind == "arrive":
        await _arrive(database, ada.environment, job, number)
    if kind in ("arrive", "nothing") or not made:
        return set()
    text = made[number % len(made)].text
    path = f"/v1/inbox/notifications/{text}"
    if kind == "delete":
        await ada.delete(f"{path}/delete")
    elif kind == "wake":
        await ada.patch(f"{path}/snooze", json={"snoozeUntil": "2026-01-01T00:00:01.000Z"})

        async def wake(db: Connection) -> Any:
            return await wake_due_messages(db, Millis(NOW + 1_000), limit=10)

        await database.transaction(wake)
    else:
        await ada.patch(f"{path}/{kind}")
    return {text}
