"""Walks read their tables in the order of an index, from the position on, and look up what they need by an index."""

import re

import pytest

from clarion.db.port import Database, Dialect
from clarion.db.query import Query, sql
from clarion.ids import new_id
from clarion.retention import layouts, memory, messages, records, runs, versions
from clarion.retention.tasks import WALKS
from clarion.vocabulary import JobStatus
from tests.plans import explain
from tests.records import NOW, make_subscriber, make_workflow
from tests.retention.plans import JobPlan, RunPlan, insert_runs, make_runs
from tests.support import Site

PAGES: dict[str, tuple[Query, str]] = {
    "runs": (runs.LIST_OLD_RUNS, "notifications_pkey|sqlite_autoindex_notifications_1"),
    "triggers": (runs.LIST_OLD_TRIGGERS, "triggers_pkey|sqlite_autoindex_triggers_1"),
    "in-app messages": (messages.LIST_OLD_IN_APP, "messages_channel"),
    "outbox": (messages.LIST_OLD_OUTBOX, "messages_channel"),
    "stored responses": (records.LIST_OLD_RESPONSES, "idempotency_keys_pkey|PRIMARY KEY"),
    "receipts": (records.LIST_OLD_RECEIPTS, "receipts_age"),
    "end of a page of receipts": (records.FIND_END_OF_PAGE, "receipts_age"),
    "versions": (versions.LIST_OLD, "workflow_versions_pkey|sqlite_autoindex_workflow_versions_1"),
    "layouts": (layouts.LIST_OLD, "layout_versions_pkey|sqlite_autoindex_layout_versions_1"),
    "windows": (memory.LIST_WINDOWS, "digest_windows_pkey|sqlite_autoindex_digest_windows_1"),
    "throttles": (memory.LIST_THROTTLES, "throttle_passes_pkey|PRIMARY KEY"),
}
LOOK_UPS: dict[str, Query] = {
    "jobs that need runs": runs.LIST_NEEDED,
    "runs merged into others": runs.LIST_DIGESTED_INTO,
    "jobs to lock": runs.LOCK_JOBS,
    "messages of jobs": runs.DELETE_MESSAGES,
    "digest events": runs.DELETE_DIGEST_EVENTS,
    "jobs": runs.DELETE_JOBS,
    "runs": runs.DELETE_RUNS,
    "triggers": runs.DELETE_UNNEEDED,
    "in-app messages": messages.DELETE_IN_APP,
    "unfinished runs": messages.LIST_UNFINISHED,
    "triggers of a version": versions.COUNT_TRIGGERS,
    "triggers while a layout was so": layouts.FIND_TRIGGER,
    "deleted layouts": layouts.DELETE_LAYOUTS,
    "passes": memory.LIST_PASSES,
    "passes to delete": memory.DELETE_PASSES,
    "receipts": records.DELETE_RECEIPTS,
}


def parameters(site: Site) -> dict[str, object]:
    some, ids = new_id(NOW), [new_id(NOW), new_id(NOW)]
    return {
        **dict.fromkeys(("after", "oldest", "first", "last", "version_id", "oldest_of_outbox"), some),
        **dict.fromkeys(("ids", "run_ids", "job_ids", "trigger_ids", "digests", "environment_ids"), ids),
        **dict.fromkeys(("horizon", "until", "now", "swept_before"), NOW),
        "environment_id": site.development.id,
        "channel": "in_app",
        "walk": "x",
        "limit": 500,
        "count": 100,
    }


def full_scans(plan: str) -> list[str]:
    """Parts of a plan that read a whole table, or all rows of an environment."""
    of_table = r"Seq Scan on (?!environments)\w+|SCAN (?!e\b|throttles|t$|CONSTANT|\d)\w+(?! USING)$"
    of_environment = r"\(environment_id=\?\)|using (?!subscribers)\w+ .*\n +Index Cond: \(environment_id = [^()]*\)$"
    return re.findall(f"{of_table}|{of_environment}", plan, re.MULTILINE)


@pytest.fixture
async def filled(database: Database, site: Site) -> Site:
    """Enough rows and statistics that PostgreSQL has a reason to choose an index."""
    workflow = await make_workflow(database, site.development)
    person = await make_subscriber(database, site.development)
    job = JobPlan(status=JobStatus.COMPLETED, changed_after=0, message="in_app")
    plan = RunPlan(age=1, jobs=[job], leader=None, is_snoozed=False, back_after=None)
    made = make_runs([plan] * 1500, NOW)
    await database.transaction(lambda db: insert_runs(db, site.development, workflow, [person.id] * 1500, made))
    if database.dialect is Dialect.POSTGRES:
        for table in ("triggers", "notifications", "jobs", "messages"):
            await analyze(database, table)
    return site


async def analyze(database: Database, table: str) -> None:
    await database.transaction(lambda db: db.execute(sql(f"ANALYZE {table}")))


@pytest.mark.parametrize("name", PAGES)
async def test_a_page_is_read_from_the_position_on(database: Database, site: Site, name: str) -> None:
    query, index = PAGES[name]
    given = parameters(site)
    if "receipts" in name:
        given |= {"after": NOW, "oldest": NOW}
    plan = await explain(database, query, **given)

    assert re.search(index, plan), plan
    assert full_scans(plan) == [], plan
    assert not re.search(r"Sort  \(|TEMP B-TREE", plan), plan


@pytest.mark.parametrize("name", LOOK_UPS)
async def test_what_belongs_to_old_rows_is_looked_up(database: Database, filled: Site, name: str) -> None:
    plan = await explain(database, LOOK_UPS[name], **parameters(filled))

    if database.dialect is Dialect.SQLITE:  # PostgreSQL knows that the environment has a few rows only.
        assert full_scans(plan) == [], plan
    assert re.search(r"Index|SEARCH", plan), plan


@pytest.mark.parametrize("name", [walk.name for walk in WALKS if walk.due is not None])
async def test_environments_with_old_rows_are_found_by_one_look_up_each(
    database: Database, site: Site, name: str
) -> None:
    (due,) = [walk.due for walk in WALKS if walk.name == name and walk.due is not None]
    plan = await explain(database, due, **parameters(site))

    assert full_scans(plan) == [], plan
    # A subquery, not a join with the table of old rows.
    if database.dialect is Dialect.POSTGRES:
        assert re.search(r"SubPlan 1\n +->  Limit .*\n +->  Index Only Scan using", plan), plan
    else:
        assert re.search(r"CORRELATED SCALAR SUBQUERY \d\nSEARCH t USING (COVERING INDEX|PRIMARY KEY)", plan), plan
    assert not re.search(r"Sort  \(|TEMP B-TREE", plan), plan
