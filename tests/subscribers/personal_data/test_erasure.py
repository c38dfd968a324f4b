"""Erasing a person with a long history: in short units of work, and to the end whatever happens."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from clarion.audit.model import Actor, ActorType, Author
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.ids import SubscriberKey
from clarion.subscribers.personal_data.erasure import BATCH, CONTINUED_AFTER, continue_erasures, erase_history
from tests.audit.support import list_entries
from tests.engine.support import World, in_app, step
from tests.subscribers.personal_data.support import post
from tests.support import Api

COUNT = sql("""
    SELECT (SELECT count(*) FROM notifications WHERE environment_id = :environment_id) AS runs,
        (SELECT count(*) FROM messages WHERE environment_id = :environment_id) AS messages,
        (SELECT count(*) FROM jobs WHERE environment_id = :environment_id) AS jobs,
        (SELECT count(*) FROM erasures WHERE environment_id = :environment_id) AS erasures
""")
AUTHOR = Author(actor=Actor(type=ActorType.COMMAND_LINE, name="ops@host"))
RUNS = 2 * BATCH + 10
ADA = SubscriberKey("ada")


class Watched:
    """A database that calls a function after each unit of work that writes."""

    def __init__(self, database: Database, after_unit: Callable[[], Any]) -> None:
        self._database, self._after_unit = database, after_unit

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    async def transaction(self, work: Any) -> Any:
        result = await self._database.transaction(work)
        await self._after_unit()
        return result


async def count_rows(database: Database, api: Api) -> dict[str, int]:
    row = await database.read(lambda db: db.fetch_one(COUNT, environment_id=api.environment.id))
    assert row is not None
    return dict(row)


async def make_long_history(world: World, *steps: dict[str, Any]) -> None:
    await world.make_workflow(*(steps or (in_app("x"),)))
    events = [{"name": "welcome", "to": "ada", "payload": {}} for _ in range(RUNS)]
    for start in range(0, RUNS, 100):
        await post(world.api, "/v1/events/trigger/bulk", {"events": events[start : start + 100]})
    await world.work()


async def test_a_long_history_is_erased_in_short_units_of_work(world: World, database: Database) -> None:
    await make_long_history(world, in_app("x"), step("delay", type="regular", amount=1, unit="hours"), in_app("y"))
    counts = [await count_rows(database, world.api)]

    async def note() -> None:
        counts.append(await count_rows(database, world.api))

    watched: Any = Watched(database, note)
    await erase_history(watched, world.api.environment.id, ADA, AUTHOR, world.clock)
    still = await world.api.get("/v2/subscribers/ada")
    erased = await world.api.delete("/v2/subscribers/ada")

    steps = [
        {name: before[name] - after[name] for name in ("runs", "messages")}
        for before, after in itertools.pairwise(counts)
    ]
    assert counts[0]["runs"] == RUNS
    assert all(0 <= count <= BATCH for one in steps for count in one.values())
    assert (counts[-1]["runs"], counts[-1]["jobs"], counts[-1]["messages"]) == (0, 0, 0)
    assert (still.status_code, erased.status_code) == (200, 200)
    assert set((await count_rows(database, world.api)).values()) == {0}


@pytest.mark.parametrize("units", [1, 2, 4])
async def test_an_erasure_whose_process_ended_is_finished_by_another(
    world: World, database: Database, clock: ManualClock, units: int
) -> None:
    await make_long_history(world)
    left = units

    async def end() -> None:
        nonlocal left
        left -= 1
        if not left:
            raise SystemError("killed")

    watched: Any = Watched(database, end)
    with pytest.raises(SystemError):
        await erase_history(watched, world.api.environment.id, ADA, AUTHOR, clock)
    await continue_erasures(database, clock)
    waiting = await count_rows(database, world.api)
    clock.move(CONTINUED_AFTER)
    await continue_erasures(database, clock)

    assert waiting["erasures"] == 1
    assert set((await count_rows(database, world.api)).values()) == {0}
    assert (await world.api.get("/v2/subscribers/ada")).status_code == 404
    (entry,) = await list_entries(world.api, action="subscriber.erase")
    assert entry["actor"] == {"type": "commandLine", "name": "ops@host"}
    assert entry["target"] == {"type": "subscriber", "id": "ada"}


async def test_the_api_erases_a_long_history_and_replays_its_answer(world: World, database: Database) -> None:
    await make_long_history(world)
    once = {"Idempotency-Key": "erase-ada"}

    first = await world.api.delete("/v2/subscribers/ada", headers=once)
    gone = await count_rows(database, world.api)
    await make_again(world)
    replayed = await world.api.delete("/v2/subscribers/ada", headers=once)

    assert set(gone.values()) == {0}
    assert first.json() == replayed.json() == {"acknowledged": True, "status": "deleted"}
    assert replayed.headers["Idempotency-Replay"] == "true"
    assert (await count_rows(database, world.api))["runs"] == RUNS
    assert len(await list_entries(world.api, action="subscriber.erase")) == 1


async def make_again(world: World) -> None:
    """The person is back, with another long history."""
    for start in range(0, RUNS, 100):
        events = [{"name": "welcome", "to": "ada", "payload": {}} for _ in range(min(100, RUNS - start))]
        await post(world.api, "/v1/events/trigger/bulk", {"events": events})
    await world.work()


async def test_what_arrives_during_an_erasure_goes_too(world: World, database: Database) -> None:
    await make_long_history(world)
    has_come = False

    async def trigger() -> None:
        nonlocal has_come
        if not has_come:
            has_come = True
            await world.trigger("ada", payload={"late": True})
            await world.work()

    watched: Any = Watched(database, trigger)
    await erase_history(watched, world.api.environment.id, ADA, AUTHOR, world.clock)
    await world.trigger("ada", payload={"later": True})
    await world.api.delete("/v2/subscribers/ada")
    await world.work()

    assert set((await count_rows(database, world.api)).values()) == {0}


async def test_a_suppressed_address_stays_suppressed_as_a_hash(world: World, database: Database) -> None:
    api = world.api
    await post(api, "/v1/integrations", {"providerId": "svc-email", "channel": "email", "active": True})
    await post(api, "/v2/subscribers", {"subscriberId": "ada", "email": "Ada@example.com"})
    await post(api, "/v1/suppressions", {"channel": "email", "address": "ada@example.com", "detail": "asked"})
    await world.make_workflow(step("email", subject="s", body="b"))

    await api.delete("/v2/subscribers/ada")
    listed = (await api.get("/v1/suppressions")).json()["data"]
    found = (await api.get("/v1/suppressions?channel=email&address=ADA@example.com")).json()["data"]
    await post(api, "/v2/subscribers", {"subscriberId": "new", "email": "ada@example.com"})
    await world.trigger("new")
    await world.work()
    outbox = (await api.get("/v1/outbox")).json()["data"]
    cleared = await api.delete("/v1/suppressions/email/ada@example.com")
    await world.trigger("new")
    await world.work()

    assert [one["address"][:7] for one in listed] == ["sha256:"]
    assert "detail" not in listed[0]
    assert found == listed
    assert outbox == []
    assert cleared.status_code == 204
    assert len((await api.get("/v1/outbox")).json()["data"]) == 1


async def test_a_hashed_suppression_is_cleared_by_its_hash_too(api: Api) -> None:
    await post(api, "/v2/subscribers", {"subscriberId": "ada", "phone": "+15550100999"})
    await post(api, "/v1/suppressions", {"channel": "sms", "address": "+15550100999"})
    await api.delete("/v2/subscribers/ada")
    (hashed,) = (await api.get("/v1/suppressions")).json()["data"]

    cleared = await api.delete(f"/v1/suppressions/sms/{hashed['address']}")

    assert cleared.status_code == 204
    assert (await api.get("/v1/suppressions")).json()["data"] == []
