"""`clarion explain` on the command line."""

import asyncio
import json

import pytest

from clarion.app import open_application
from clarion.environments.store import list_environments
from clarion.errors import NotFound, SettingsError
from clarion.ids import id_text
from clarion.jobs.details import DetailStatus, ExecutionDetail
from clarion.vocabulary import StepType
from tests.cli.support import load_settings, run_here, set_up_store
from tests.records import NOW, make_job, make_message, make_notification, make_subscriber, make_trigger, make_workflow

DEVELOPMENT = ("--environment", "Development")


def make_run(store: list[str]) -> tuple[str, str]:
    """Insert a run of Ada; returns its id and its transaction."""

    async def make() -> tuple[str, str]:
        async with open_application(load_settings(store)) as application:
            database = application.database
            found = await database.read(list_environments)
            environment = next(one for one in found if one.name == "Development")
            await make_subscriber(database, environment, first_name="Ada")
            workflow = await make_workflow(database, environment, key="welcome")
            trigger = await make_trigger(database, environment, workflow=workflow)
            run = await make_notification(database, environment, trigger=trigger)
            sent = ExecutionDetail(at=NOW, status=DetailStatus.SUCCESS, detail="Message sent")
            job = await make_job(database, environment, notification=run, kind=StepType.IN_APP, details=[sent])
            await make_message(database, environment, job=job)
            return id_text(run.id), trigger.transaction

    return asyncio.run(make())


def test_a_run_is_explained_by_its_id_or_by_the_person(store: list[str]) -> None:
    set_up_store(store)
    run_id, transaction = make_run(store)

    by_id = run_here("explain", run_id, *DEVELOPMENT, *store)
    asked = ("explain", "--subscriber", "ada", *DEVELOPMENT, *store)
    by_workflow = run_here(*asked, "--workflow", "welcome", "--channel", "in_app")
    as_json = run_here(*asked, "--transaction", transaction, "--json")
    missing = run_here("explain", "--subscriber", "bob", "--transaction", transaction, *DEVELOPMENT, *store)

    assert by_id.exit_code == 0, by_id.exception
    assert f"ada · welcome · {transaction} · run {run_id}\n" in by_id.stdout
    assert "in_app: delivered · The message was put into the inbox of Ada.\n" in by_id.stdout
    assert (
        "2026-01-01T00:00:00.000Z  passed   attempt     [in_app-1] The message was put into the inbox" in by_id.stdout
    )
    assert by_workflow.stdout == by_id.stdout
    assert json.loads(as_json.stdout)["channels"]["in_app"]["outcome"] == "delivered"
    assert "· no run\n" in missing.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give a NOTIFICATION_ID, or --subscriber with --transaction or --workflow."),
        (["--subscriber", "ada"], "Give one of --transaction and --workflow: what is asked about."),
        (["--subscriber", "ada", "--transaction", "a", "--workflow", "b"], "Give one of --transaction and --workflow"),
        (["abc", "--subscriber", "ada"], "Give a NOTIFICATION_ID, or --subscriber with"),
    ],
)
def test_a_question_that_is_not_complete_is_refused(tmp_path: object, arguments: list[str], message: str) -> None:
    result = run_here("explain", *arguments, *DEVELOPMENT, "--data-dir", str(tmp_path))

    assert isinstance(result.exception, SettingsError)
    assert str(result.exception).startswith(message)


def test_an_unknown_run_is_not_found(tmp_path: object) -> None:
    store = ["--data-dir", str(tmp_path)]
    set_up_store(store)

    unknown = run_here("explain", id_text(bytes(16)), *DEVELOPMENT, *store)
    malformed = run_here("explain", "abc", *DEVELOPMENT, *store)

    assert isinstance(unknown.exception, NotFound)
    assert str(malformed.exception).startswith("'abc' is not the id of a run")
