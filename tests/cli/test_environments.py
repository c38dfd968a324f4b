"""`clarion environments`, `clarion organizations` and `clarion promote`."""

import asyncio
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from clarion.cli.commands import app
from clarion.cli.installation import Installation
from clarion.clock import SystemClock
from clarion.db.migrations.migrate import migrate_sqlite
from clarion.db.open import open_store
from clarion.db.port import Connection
from clarion.environments.bootstrap import prepare_store
from clarion.environments.model import Environment, hash_key
from clarion.environments.store import list_api_keys_by_hash, list_environments
from clarion.ids import WorkflowKey
from clarion.settings.model import Settings
from clarion.workflows.actions import create_workflow
from clarion.workflows.step_wire import StepIn, StepKind
from clarion.workflows.steps import build_steps
from clarion.workflows.store import list_workflows

GUIDE = Path(__file__).parents[2] / "docs" / "environments.md"

Run = Callable[..., Result]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """The settings of a store that a first start has set up."""
    made = Settings(data_dir=tmp_path)
    migrate_sqlite(tmp_path / "clarion.db")

    async def prepare() -> None:
        database = await open_store(made)
        await prepare_store(database, made, SystemClock(), makes_keys=True)
        await database.close()

    asyncio.run(prepare())
    return made


@pytest.fixture
def run(settings: Settings) -> Run:
    def invoke(line: str, *, answer: str | None = None) -> Result:
        variables = {"CLARION_DATA_DIR": str(settings.data_dir), "COLUMNS": "200", "CLARION_DATABASE_URL": ""}
        return CliRunner().invoke(app, shlex.split(line), env=variables, input=answer)

    return invoke


def read_environments(settings: Settings) -> dict[str, Environment]:
    return {one.name: one for one in Installation(settings).run(list_environments)}


def find_owner(settings: Settings, output: str) -> bytes | None:
    """The environment of the API key that a command printed."""
    (text,) = re.findall(r"^ck_\w+$", output, re.MULTILINE)
    found = Installation(settings).run(lambda db: list_api_keys_by_hash(db, [hash_key(text)]))
    return next((key.environment_id for key, _ in found.values() if not key.revoked_at), None)


def make_workflow(settings: Settings, environment: Environment, key: str, *, body: str = "Hello") -> None:
    async def create(db: Connection) -> None:
        step = StepIn(name="Inbox", type=StepKind.IN_APP, control_values={"body": body})
        content = {"steps": build_steps([step], (), SystemClock().now())}
        await create_workflow(db, environment.id, {"key": WorkflowKey(key), "name": key}, content, SystemClock().now())

    Installation(settings).run(create)


def read_workflows(settings: Settings, environment: Environment) -> list[str]:
    found = Installation(settings).run(lambda db: list_workflows(db, environment.id))
    return [one.key for one in found]


def test_the_commands_of_the_guide_work(run: Run) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    lines = [line.removeprefix("clarion ") for block in blocks for line in block.splitlines()]

    results = {line: run(line) for line in lines}

    assert len(lines) > 10
    assert {line: repr(one.exception) for line, one in results.items() if one.exit_code} == {}


def test_an_environment_is_created_with_a_key_and_deleted(run: Run, settings: Settings) -> None:
    created = run("environments create Staging --type prod --color #fff")
    made = read_environments(settings)["Staging"]
    owner = find_owner(settings, created.output)
    taken = run("environments create Staging")
    kept = run("environments delete Staging", answer="n\n")
    still = read_environments(settings)
    deleted = run("environments delete Staging", answer="y\n")

    assert (made.kind, made.options.color, owner) == ("prod", "#fff", made.id)
    assert "name is the name of another environment" in str(taken.exception)
    assert (kept.exit_code, "Staging" in still) == (1, True)
    assert deleted.exit_code == 0
    assert "Staging" not in read_environments(settings)
    assert find_owner(settings, created.output) is None


def test_the_last_environment_of_an_organization_is_not_deleted(run: Run, settings: Settings) -> None:
    run("environments delete Production --yes")

    refused = run("environments delete Development --yes")

    assert "clarion organizations delete" in str(refused.exception)
    assert list(read_environments(settings)) == ["Development"]


def test_limits_retention_and_time_zone_are_set_and_taken_back(run: Run, settings: Settings) -> None:
    limits = "--limit trigger=100:500 --limit global=0.5"
    shown = run(f"environments set Development --timezone Asia/Tokyo {limits} --retention runs=30")
    changed = read_environments(settings)["Development"]
    run("environments set Development --timezone default --limit trigger=default --retention runs=default")
    back = read_environments(settings)["Development"]

    assert "100 a second, up to 500 at once" in shown.output
    assert (changed.timezone, changed.options.limits["trigger"].burst) == ("Asia/Tokyo", 500)  # type: ignore[index]
    assert changed.options.retention_days == {"runs": 30}
    assert (back.timezone, list(back.options.limits), back.options.retention_days) == (None, ["global"], {})


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("", "nothing to set"),
        ("--limit triggers=1", "one of trigger, configuration, global"),
        ("--limit trigger=fast", "is no rate limit"),
        ("--limit trigger=-1", "limits.trigger.perSecond"),
        ("--retention runs=soon", "is no number of days"),
        ("--retention runs=0", "retentionDays.runs"),
        ("--timezone Mars", "timezone must be an IANA time zone"),
    ],
)
def test_a_setting_that_cannot_work_is_refused(run: Run, options: str, complaint: str) -> None:
    assert complaint in str(run(f"environments set Development {options}").exception)


def test_environments_of_several_organizations_are_told_apart(run: Run, settings: Settings) -> None:
    created = run("organizations create Acme")
    ambiguous = run("keys create --environment Development")
    other = run("keys create --environment Acme/Development")
    unclear = run("environments create Staging")
    staging = run("environments create Staging --organization Acme")
    listed = run("organizations list")

    assert len(re.findall(r"^ck_\w+$", created.output, re.MULTILINE)) == 2
    assert "choose one of Clarion/Development, Acme/Development" in str(ambiguous.exception)
    assert other.exit_code == 0
    assert "--organization" in str(unclear.exception)
    assert staging.exit_code == 0
    assert re.search(r"Acme.*│ 3 ", listed.output)


def test_an_organization_that_is_being_deleted_is_none_to_choose_from(run: Run, settings: Settings) -> None:
    run("organizations create Acme")
    run("organizations delete Acme --yes")

    created = run("environments create Staging")
    named = run("environments create Staging --organization Acme")
    listed = run("organizations list")
    again = run("organizations create Acme")

    assert created.exit_code == 0, created.exception
    assert "There is no single organization 'Acme'" in str(named.exception)
    assert "Acme" not in listed.output
    assert again.exit_code == 0


def test_an_organization_is_deleted_if_it_is_not_the_only_one(run: Run, settings: Settings) -> None:
    only = run("organizations delete Clarion --yes")
    run("organizations create Acme")
    unused = run("organizations delete Acme")
    run("organizations create Used")
    used = Installation(settings).run(list_environments)[-1]
    make_workflow(settings, used, "welcome")
    asked = run("organizations delete Used", answer="n\n")
    deleted = run("organizations delete Used --yes")

    assert "is the only organization" in str(only.exception)
    assert (unused.exit_code, asked.exit_code, deleted.exit_code) == (0, 1, 0)
    assert list(read_environments(settings)) == ["Development", "Production"]


def test_promotion_shows_what_differs_and_does_it_only_on_request(run: Run, settings: Settings) -> None:
    environments = read_environments(settings)
    development, production = environments["Development"], environments["Production"]
    make_workflow(settings, development, "welcome")
    make_workflow(settings, development, "other")
    make_workflow(settings, production, "welcome", body="Hi")
    make_workflow(settings, production, "old")

    shown = run("promote --from Development --to Production")
    untouched = read_workflows(settings, production)
    one = run("promote --from Development --to Production --workflow other --apply")
    everything = run("promote --from Development --to Production --prune --apply")
    again = run("promote --from Development --to Production --prune --apply")

    assert "~ workflow welcome" in shown.output
    assert 'controls.body: "Hi" → "Hello"' in shown.output
    assert "- workflow old  (left out: is only in the target" in shown.output
    assert "2 resources would be promoted; do it with --apply." in shown.output
    assert untouched == ["welcome", "old"]
    assert "Promoted 1 resource." in one.output
    assert "Promoted 2 resources." in everything.output
    assert read_workflows(settings, production) == ["welcome", "other"]
    assert "There is nothing to promote." in again.output


def test_promotion_needs_two_environments_of_one_organization(run: Run) -> None:
    run("organizations create Acme")

    for target in ("Acme/Production", "Clarion/Development"):
        refused = run(f"promote --from Clarion/Development --to {target}")
        assert "two different environments of one organization" in str(refused.exception)
