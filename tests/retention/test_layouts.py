"""Versions of layouts: what a waiting run needs stays, with its layout, and what nothing needs goes."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import partial

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clarion.clock import DAY, HOUR, Millis
from clarion.content.email.compose import EditorType, LayoutSource
from clarion.content.layouts.actions import LayoutChanges, LayoutDraft, change_layout, create_layout
from clarion.content.layouts.store import mark_layout_deleted
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.environments.model import Environment
from clarion.ids import first_id
from clarion.retention import layouts
from clarion.retention.tasks import list_scopes
from clarion.retention.walks import FIRST
from clarion.settings.model import Settings
from tests.content.layouts.support import mail, make_layout, save_body
from tests.engine.support import World, step
from tests.records import NOW, make_trigger, make_workflow
from tests.retention.support import count_rows, delete_old, fetch
from tests.support import Site

ADA = {"subscriberId": "ada", "email": "ada@example.com"}
WAIT = step("delay", type="regular", amount=200, unit="days")
LIST_VERSIONS = sql("SELECT id FROM layout_versions WHERE environment_id = :environment_id ORDER BY id")
LIST_TRIGGERS = sql("SELECT id FROM triggers WHERE environment_id = :environment_id ORDER BY id")
EMPTY = [
    sql(f"DELETE FROM {table} WHERE environment_id = :environment_id")
    for table in ("triggers", "layouts", "layout_versions")
]


def frame(name: str) -> str:
    return f"<html><body><h1>{name}</h1>{{{{content}}}}</body></html>"


async def count(world: World, database: Database) -> tuple[int, int]:
    """How many layouts there are, and how many versions of them, after everything old was deleted."""
    await delete_old(database, world.clock)
    counts = await count_rows(database, world.api.environment.id, "layouts", "layout_versions")
    return counts["layouts"], counts["layout_versions"]


async def test_a_version_goes_long_after_it_was_replaced_unless_a_run_needs_it(
    world: World, database: Database
) -> None:
    await make_layout(world.api, body=frame("one"))
    await world.make_workflow(WAIT, mail())
    for text in ("two", "three", "four"):
        world.clock.move(DAY)
        await save_body(world.api, "newsletter", frame(text))
        if text == "two":
            world.clock.move(2 * HOUR)
            await world.trigger(ADA, payload={"name": "Ada"})
            await world.work()
    world.clock.move(86 * DAY)
    young = await count(world, database)
    world.clock.move(5 * DAY)
    old = await count(world, database)
    await world.work(after=120 * DAY)
    (sent,) = await world.messages()
    world.clock.move(32 * DAY)

    # A new layout has a version of its own. The third one is that of Ada's run, and the last one is current.
    assert (young, old) == ((1, 5), (1, 2))
    assert "<h1>two</h1><p>Hi Ada</p>" in sent["content"]
    assert await count(world, database) == (1, 1)


async def test_a_deleted_layout_goes_with_its_texts_after_the_last_run_that_needs_it(
    world: World, database: Database
) -> None:
    for key in ("default", "newsletter"):
        await make_layout(world.api, key, body=frame("{{t.title}}"), isTranslationEnabled=True)
        texts = {"resourceType": "layout", "resourceId": key, "locale": "en_US", "content": {"title": "one"}}
        assert (await world.api.post("/v2/translations", json=texts)).status_code == 200
    await world.make_workflow(WAIT, mail())
    world.clock.move(DAY)
    await world.trigger(ADA, payload={"name": "Ada"})
    await world.work()
    world.clock.move(DAY)
    assert (await world.api.delete("/v2/layouts/newsletter")).status_code == 204
    world.clock.move(100 * DAY)
    waiting = await count(world, database)
    await world.work(after=120 * DAY)
    (sent,) = await world.messages()
    world.clock.move(32 * DAY)

    assert waiting == (2, 2)
    assert "<h1>one</h1><p>Hi Ada</p>" in sent["content"]
    assert await count(world, database) == (1, 1)
    kept = await count_rows(database, world.api.environment.id, "translation_groups", "translations")
    assert set(kept.values()) == {1}


def pin(versions: Sequence[bytes], trigger: bytes) -> bytes:
    """The version for a trigger, as the engine chooses it."""
    return versions[max(bisect_left(versions, trigger) - 1, 0)]


SAVED = st.lists(st.integers(0, 60), max_size=5)
ACCEPTED = st.lists(st.integers(-30, 60), max_size=5)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(saved=SAVED, accepted=ACCEPTED, is_deleted=st.booleans())
async def test_no_trigger_gets_another_version_and_what_is_far_from_all_goes(
    database: Database, site: Site, saved: list[int], accepted: list[int], is_deleted: bool
) -> None:
    environment = site.development
    scope = {"environment_id": environment.id}
    await make_history(database, environment, sorted(saved), is_deleted=is_deleted)
    workflow = await make_workflow(database, environment)
    for hour in accepted:
        await make_trigger(database, environment, workflow=workflow, now=Millis(NOW + hour * HOUR))
    triggers = [row["id"] for row in await fetch(database, LIST_TRIGGERS, **scope)]
    before = [row["id"] for row in await fetch(database, LIST_VERSIONS, **scope)]

    await walk(database, environment, Millis(NOW + 200 * DAY))

    after = [row["id"] for row in await fetch(database, LIST_VERSIONS, **scope)]
    deleted_at = first_id(Millis(NOW + 60 * HOUR))
    living = [one for one in triggers if not is_deleted or one < deleted_at]
    assert [pin(after, one) for one in living] == [pin(before, one) for one in living]
    if not accepted:
        counts = await count_rows(database, environment.id, "layouts", "layout_versions")
        assert set(counts.values()) == {0 if is_deleted else 1}


async def make_history(database: Database, environment: Environment, saved: list[int], *, is_deleted: bool) -> None:
    """A layout that is saved at these hours, and perhaps deleted after them."""

    async def make(db: Connection) -> None:
        for query in EMPTY:
            await db.execute(query, environment_id=environment.id)
        draft = LayoutDraft(key="letter", name="Letter", source=None)
        current = await create_layout(db, environment.id, draft, NOW)
        for number, hour in enumerate(saved):
            source = LayoutSource(frame(str(number)), EditorType.HTML)
            changes = LayoutChanges(name="Letter", source=source, is_translated=False)
            current = await change_layout(db, current, changes, Millis(NOW + hour * HOUR))
        if is_deleted:
            await mark_layout_deleted(db, current.layout, Millis(NOW + 60 * HOUR))

    await database.transaction(make)


async def walk(database: Database, environment: Environment, now: Millis) -> None:
    """Walk in small pages, so that a version is looked at after those before it are gone."""
    scopes = await database.scan(lambda db: list_scopes(db, Settings(), now))
    (scope,) = [one for one in scopes if one.environment_id == environment.id]
    position, is_last = FIRST, False
    while not is_last:
        page = await database.scan(partial(layouts.choose, scope=scope, after=position, limit=2))
        await database.transaction(partial(layouts.delete, scope=scope, rows=page.rows))
        position, is_last = page.last, page.is_last
