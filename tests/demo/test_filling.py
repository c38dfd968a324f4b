"""`clarion demo` makes a week that the real engine could have made, at any moment."""

from collections import Counter

import pytest

from clarion.clock import DAY
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.demo.events import WEEK
from clarion.demo.filling import Contents, NotEmpty, count_contents, fill_environment
from clarion.demo.people import PEOPLE
from clarion.demo.workflows import WORKFLOWS
from clarion.explain.model import Explanation, Outcome, Verdict
from clarion.explain.run import explain_run
from clarion.ids import NotificationId
from clarion.monitoring.doctor.consistency import check_orphans, find_broken
from clarion.monitoring.doctor.model import CheckStatus
from clarion.monitoring.doctor.processes import check_queues
from clarion.runs.status import STATUSES, settle_run_statuses
from clarion.vault import Vault
from clarion.vocabulary import Channel, RunStatus
from tests.demo.conftest import AUTHOR, UNTIL, Filled

LIST_RUNS = sql("""
    SELECT n.id, n.status, n.created_at, w.key AS workflow, s.key AS person, t.transaction_key AS trigger_key
    FROM notifications AS n
    JOIN workflows AS w ON w.environment_id = n.environment_id AND w.id = n.workflow_id
    JOIN subscribers AS s ON s.environment_id = n.environment_id AND s.id = n.subscriber_id
    JOIN triggers AS t ON t.environment_id = n.environment_id AND t.id = n.trigger_id
    WHERE n.environment_id = :environment_id ORDER BY n.id
""")
LIST_WELCOMES = sql("""
    SELECT s.key AS person, m.subject, m.content FROM messages AS m
    JOIN workflows AS w ON w.environment_id = m.environment_id AND w.id = m.workflow_id
    JOIN subscribers AS s ON s.environment_id = m.environment_id AND s.id = m.subscriber_id
    WHERE m.environment_id = :environment_id AND w.key = 'welcome' AND m.channel = 'email'
    AND m.subject <> 'Three things that keep a bike happy'
""")
LIST_JOBS = sql("SELECT type, status, due_at, queue, dead_at FROM jobs WHERE environment_id = :environment_id")
LIST_ACTIVE = sql("""
    SELECT provider_id, is_primary FROM integrations WHERE environment_id = :environment_id AND active
    ORDER BY provider_id
""")
LIST_CALLS = sql("SELECT sent, failed, milliseconds FROM integration_counts WHERE environment_id = :environment_id")
COUNT_MESSAGES = sql("""
    SELECT COUNT(*) AS n, SUM(CASE WHEN read THEN 1 ELSE 0 END) AS read, COUNT(delivery) AS reported
    FROM messages WHERE environment_id = :environment_id
""")
LIST_AUTHORS = sql("SELECT DISTINCT actor_name FROM audit_entries WHERE environment_id = :environment_id")
COUNT_PLACES = sql("SELECT COUNT(*) AS people, COUNT(DISTINCT search_row) AS places FROM subscribers")
COUNT_KEYS = sql("SELECT COUNT(*) AS n FROM api_keys WHERE environment_id = :environment_id")

# True of work that waits for a moment to come.
MAY_WAIT = {
    "jobs without a final status",
    "runs that are stored as running or waiting",
    "jobs that are still in a queue",
    "digest windows that are open",
}


async def test_a_week_has_every_status_step_and_kind_of_trouble(filled: Filled) -> None:
    environment_id = filled.environment.id

    async def look(db: Connection) -> None:
        runs = await db.fetch(LIST_RUNS, environment_id=environment_id)
        jobs = await db.fetch(LIST_JOBS, environment_id=environment_id)
        # A run is only "running" while a worker is at it.
        assert {STATUSES[one["status"]] for one in runs} == set(RunStatus) - {RunStatus.RUNNING}
        assert {one["type"] for one in jobs} == {step["type"] for one in WORKFLOWS for step in one["steps"]}
        assert min(one["created_at"] for one in runs) >= UNTIL - WEEK
        assert max(one["created_at"] for one in runs) <= UNTIL
        assert sum(one["dead_at"] is not None for one in jobs) >= 5
        counted = await db.fetch_one(COUNT_MESSAGES, environment_id=environment_id)
        assert counted is not None
        assert counted["read"] > 0
        assert counted["reported"] > 0

    await filled.database.read(look)
    assert filled.contents.people == len(PEOPLE)
    assert filled.contents.workflows == len(WORKFLOWS)


async def test_nothing_is_due_in_the_past_and_the_doctor_finds_nothing(filled: Filled) -> None:
    environments = [filled.environment]

    async def look(db: Connection) -> None:
        jobs = await db.fetch(LIST_JOBS, environment_id=filled.environment.id)
        waiting = [one["due_at"] for one in jobs if one["queue"] is not None]
        assert waiting
        assert UNTIL < min(waiting) < UNTIL + DAY
        findings = [
            *await check_queues(db, environments, now=UNTIL, worker_count=1),
            *await check_orphans(db, environments, full=True),
        ]
        assert {one.status for one in findings} == {CheckStatus.OK}
        assert set(await find_broken(db)) == MAY_WAIT

    await filled.database.read(look)


async def test_stored_statuses_are_those_that_follow_from_the_jobs(filled: Filled) -> None:
    environment_id = filled.environment.id

    async def settle(db: Connection) -> bool:
        before = await db.fetch(LIST_RUNS, environment_id=environment_id)
        await settle_run_statuses(db, environment_id, [one["id"] for one in before], UNTIL)
        return list(before) == list(await db.fetch(LIST_RUNS, environment_id=environment_id))

    assert await filled.database.transaction(settle)


async def test_runs_of_each_outcome_can_be_explained(filled: Filled) -> None:
    environment_id = filled.environment.id

    async def explain(db: Connection) -> list[Explanation]:
        runs = await db.fetch(LIST_RUNS, environment_id=environment_id)
        kinds = {(one["workflow"], one["status"]): one["id"] for one in runs}
        chosen = [*kinds.values(), *(one["id"] for one in runs if one["trigger_key"] == "payment-871")]
        return [await explain_run(db, environment_id, NotificationId(one), UNTIL) for one in chosen]

    found = await filled.database.read(explain)

    *_, critical = found
    assert critical.subscriber_key == "thomas"
    assert critical.channels[Channel.EMAIL].outcome is Outcome.DELIVERED
    assert any("critical" in one.summary for one in critical.decisions)
    outcomes = {result.outcome for one in found for result in one.channels.values()}
    assert {Outcome.DELIVERED, Outcome.SKIPPED, Outcome.FAILED, Outcome.WAITING} <= outcomes
    verdicts = Counter(decision.verdict for one in found for decision in one.decisions)
    assert set(verdicts) == set(Verdict) - {Verdict.UNKNOWN}


async def test_nothing_that_is_triggered_later_leaves_the_machine(filled: Filled) -> None:
    rows = await filled.database.read(lambda db: db.fetch(LIST_ACTIVE, environment_id=filled.environment.id))

    active = {one["provider_id"]: bool(one["is_primary"]) for one in rows}
    assert active == {"svc": False, "svc-email": True, "svc-sms": True}


async def test_the_same_moment_makes_the_same_week_on_both_databases(filled: Filled, weeks: list[object]) -> None:
    async def summarize(db: Connection) -> object:
        runs = await db.fetch(LIST_RUNS, environment_id=filled.environment.id)
        jobs = await db.fetch(LIST_JOBS, environment_id=filled.environment.id)
        calls = await db.fetch(LIST_CALLS, environment_id=filled.environment.id)
        return (
            Counter((one["trigger_key"], one["person"], one["status"], one["created_at"]) for one in runs),
            Counter((one["type"], one["status"]) for one in jobs),
            sorted((one["sent"], one["failed"], one["milliseconds"]) for one in calls),
        )

    weeks.append(await filled.database.read(summarize))

    assert all(one == weeks[0] for one in weeks)


async def test_an_environment_that_has_something_is_left_alone(filled: Filled, vault: Vault) -> None:
    with pytest.raises(NotEmpty, match=r"is not empty .*10 workflows.*clarion environments create"):
        await fill_environment(filled.database, filled.environment, vault=vault, until=UNTIL, author=AUTHOR)

    assert await filled.database.read(lambda db: count_contents(db, filled.environment)) == filled.contents


def test_the_refusal_counts_one_thing_in_the_singular() -> None:
    found = Contents(workflows=1, people=2, topics=0, runs=1, messages=1, integrations=0)

    assert found.describe() == "1 workflow, 2 people, 1 run, 1 message"


async def test_changes_are_those_of_the_command_and_its_key_is_gone(filled: Filled) -> None:
    async def look(db: Connection) -> tuple[list[str], int]:
        authors = await db.fetch(LIST_AUTHORS, environment_id=filled.environment.id)
        keys = await db.fetch_one(COUNT_KEYS, environment_id=filled.environment.id)
        return [one["actor_name"] for one in authors], keys["n"] if keys else -1

    assert await filled.database.read(look) == (["ada@laptop"], 0)


async def test_people_get_places_in_the_text_index_that_nobody_has(filled: Filled) -> None:
    row = await filled.database.read(lambda db: db.fetch_one(COUNT_PLACES))

    assert row is not None
    assert dict(row) == {"people": len(PEOPLE) + 1, "places": len(PEOPLE) + 1}


async def test_the_welcome_mail_is_in_the_language_of_its_reader_and_in_the_layout(filled: Filled) -> None:
    rows = await filled.database.read(lambda db: db.fetch(LIST_WELCOMES, environment_id=filled.environment.id))

    mails = {row["person"]: row for row in rows}
    assert mails["kwame"]["subject"] == "Welcome to Larkspur Cycles"
    assert "Good to have you on board" in mails["kwame"]["content"]
    assert mails["sara"]["subject"] == "أهلاً بك في Larkspur Cycles"
    assert 'dir="rtl"' in mails["sara"]["content"]
    assert "نصلح ما يرميه الآخرون." in mails["sara"]["content"]
