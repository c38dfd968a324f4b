"""`clarion doctor` names what is wrong and what to do; by real commands."""

import asyncio
import json
import socket
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import asyncpg
import pytest

from clarion.cli.status import check_open_files
from clarion.clock import SystemClock
from clarion.db.migrations.migrate import migrate_postgres, migrate_sqlite
from clarion.db.port import Connection, Database
from clarion.db.postgres.database import PostgresDatabase
from clarion.db.sqlite.database import SqliteDatabase, connect
from clarion.environments.bootstrap import prepare_store
from clarion.environments.store import list_environments
from clarion.ids import IntegrationId, new_id
from clarion.integrations import store as integrations
from clarion.integrations.model import Integration
from clarion.monitoring.doctor.checkup import check_installation
from clarion.monitoring.doctor.model import CheckStatus, Finding
from clarion.monitoring.doctor.network import check_mail, check_network
from clarion.providers.transport.egress import EgressGuard
from clarion.secret import Secret
from clarion.settings.model import Settings
from clarion.vault import Vault, open_vault
from clarion.vocabulary import Channel
from tests.cli.test_backup import set_up_store
from tests.processes import Start
from tests.providers.loopback import PASSWORD, mail_server

Run = Callable[..., CompletedProcess[str]]

NOW_IN_POSTGRES = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"


async def examine(settings: Settings, **environ: str) -> dict[str, list[Finding]]:
    """The findings that are not well, by check."""
    found: dict[str, list[Finding]] = {}
    for one in await check_installation(settings, environ):
        assert (one.remedy is None) == (one.status is CheckStatus.OK)
        if one.status is not CheckStatus.OK and one.check != "disk":
            found.setdefault(one.check, []).append(one)
    return found


def on_sqlite(folder: Path) -> Settings:
    return Settings(data_dir=folder)


def on_postgres(url: str, folder: Path) -> Settings:
    return Settings(data_dir=folder, database_url=Secret(url))


async def test_a_sound_installation_has_nothing_to_say(start: Start, run_command: Run, store: list[str]) -> None:
    start("serve", *store)

    done = run_command("doctor", *store, "--full")

    assert (done.returncode, "PROBLEM" in done.stdout) == (0, False)
    for check in ("settings", "migrations", "writing", "keys", "clocks", "queues", "orphans", "open files"):
        assert f"ok {check}: " in done.stdout


def test_problems_are_shown_as_json_and_by_the_exit_status(run_command: Run, tmp_path: Path) -> None:
    done = run_command("doctor", "--json", "--data-dir", str(tmp_path))

    answer = json.loads(done.stdout)
    assert (done.returncode, answer["status"]) == (1, "problem")
    assert [one for one in answer["findings"] if one["status"] == "problem"] == [
        {
            "check": "migrations",
            "status": "problem",
            "summary": "There is no store yet.",
            "remedy": "`clarion serve` or `clarion migrate` makes one.",
        }
    ]


async def test_a_store_that_cannot_be_used_is_a_problem_with_a_remedy(tmp_path: Path) -> None:
    settings = on_sqlite(tmp_path)
    migrate_sqlite(tmp_path / "clarion.db")
    without_keys = await examine(settings)
    connection = connect(tmp_path / "clarion.db")
    connection.execute("UPDATE alembic_version SET version_num = '0009'")
    outdated = await examine(settings)
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    newer = await examine(settings)
    connection.close()
    unreachable = await examine(on_postgres(f"postgresql://nobody@/none?host={tmp_path}", tmp_path))

    assert "There are no encryption keys" in without_keys["keys"][0].summary
    (finding,) = outdated["migrations"]
    assert "has schema 0009, of a version before 0.1.0" in finding.summary
    assert finding.remedy == "Install the version of Clarion that migrated the store."
    assert "newer than this Clarion" in newer["migrations"][0].summary
    assert "cannot be reached" in unreachable["store"][0].summary
    assert not (tmp_path / "encryption.keys").exists()


async def test_the_files_variables_and_pages_are_checked(tmp_path: Path) -> None:
    await set_up_store(tmp_path)
    (tmp_path / "encryption.keys").chmod(0o644)
    connection = connect(tmp_path / "clarion.db")
    page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'topics_key'").get
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    with (tmp_path / "clarion.db").open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 200)

    found = await examine(on_sqlite(tmp_path), CLARION_DATABSE_URL="x", CLARION_ENCRYPTION_KEYS_FILE="y")

    assert found["settings"][0].summary == "No setting is called CLARION_DATABSE_URL."
    assert found["files"][0].remedy == f"chmod 600 {tmp_path / 'encryption.keys'}"
    assert "is damaged" in found["integrity"][0].summary


async def add_integration(database: Database, vault: Vault, credentials: dict[str, str]) -> None:
    async def add(db: Connection) -> bool:
        (environment, *_) = await list_environments(db)
        now = SystemClock().now()
        integration = Integration(
            id=IntegrationId(new_id(now)),
            environment_id=environment.id,
            provider_id="nodemailer",
            channel=Channel.EMAIL,
            name="Mail",
            identifier=credentials["port"],
            credentials=credentials,
            conditions=[],
            active=True,
            is_primary=False,
            priority=0,
            created_at=now,
            updated_at=now,
        )
        return await integrations.insert_integration(db, integration, vault)

    assert await database.transaction(add)


async def test_hosts_of_providers_are_reached_without_sending_anything(tmp_path: Path) -> None:
    """A server that is up, and a port that nothing listens on."""
    await set_up_store(tmp_path)
    vault = open_vault(None, tmp_path)
    database = SqliteDatabase(tmp_path / "clarion.db")
    received: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.read())
        writer.close()

    async with await asyncio.start_server(listen, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with socket.create_server(("127.0.0.1", 0)) as free:
            closed = free.getsockname()[1]
        for number in (port, closed):
            account = {"host": "127.0.0.1", "port": str(number), "from": "news@example.com"}
            await add_integration(database, vault, account)
        environments = await database.read(list_environments)
        found = await check_network(database, environments, vault, EgressGuard(["127.0.0.0/8"]))
        refused = await check_network(database, environments, vault, EgressGuard())
    await database.close()

    (finding,) = found
    assert (finding.status, finding.summary.partition(" does not answer")[0]) == (
        CheckStatus.PROBLEM,
        f"127.0.0.1:{closed}, which nodemailer uses,",
    )
    assert b"".join(received) == b""
    assert len(refused) == 2
    assert {one.remedy for one in refused} == {"Correct the host, the DNS, or CLARION_EGRESS_ALLOW."}


async def test_stuck_work_orphans_and_wrong_clocks_are_found(fresh_postgres_url: str, tmp_path: Path) -> None:
    await migrate_postgres(fresh_postgres_url)
    database = await PostgresDatabase.connect(fresh_postgres_url, pool_size=1)
    settings = on_postgres(fresh_postgres_url, tmp_path)
    await prepare_store(database, settings, SystemClock())
    await database.close()
    connection = await asyncpg.connect(fresh_postgres_url)
    environment = await connection.fetchval("SELECT id FROM environments WHERE name = 'Development'")
    job = """
        INSERT INTO jobs (environment_id, id, notification_id, step, type, status, details, due_at, queue, priority,
            created_at, updated_at)
        VALUES ($1, gen_random_uuid(), gen_random_uuid(), 0, $2, $3, '[]', $4, $5, 2, 1, 1)
    """
    late = await connection.fetchval(f"SELECT {NOW_IN_POSTGRES}") - 3 * 3_600_000
    await connection.execute(job, environment, "delay", "delayed", late, 1)
    await connection.execute(job, environment, "email", "running", late, 2)
    await connection.execute(job, environment, "sms", "queued", late * 2, 2)
    await connection.execute(
        """
        INSERT INTO triggers (environment_id, id, transaction_key, workflow_id, version_id, payload, created_at, state)
        VALUES ($1, gen_random_uuid(), 'stuck', gen_random_uuid(), gen_random_uuid(), '{}', $2, 'queued')
    """,
        environment,
        late,
    )
    await connection.execute(f"""
        INSERT INTO processes (id, kind, host, pid, version, started_at, seen_at, clock_at, report)
        VALUES (gen_random_uuid(), 'api', 'left', 7, '0.1.0', 1, {NOW_IN_POSTGRES}, {NOW_IN_POSTGRES} - 90000, '{{}}'),
            (gen_random_uuid(), 'api', 'right', 8, '0.2.0', 1, {NOW_IN_POSTGRES}, {NOW_IN_POSTGRES}, '{{}}')
    """)
    await connection.close()

    found = await examine(settings)

    assert sorted(one.summary for one in found["queues"]) == [
        "In Development, the oldest email send whose lease is over is due since 3 hours.",
        "In Development, the oldest run is due since 3 hours.",
        "In Development, the oldest trigger is due since 3 hours.",
    ]
    assert {one.remedy for one in found["queues"]} == {
        "No worker is alive: start `clarion worker`, or `clarion serve`."
    }
    assert [one.summary for one in found["orphans"]] == [
        "In Development, 3 rows of jobs belong to notifications that do not exist."
    ]
    assert [(one.status, one.summary) for one in found["clocks"]] == [
        (CheckStatus.PROBLEM, "The clock of process 7 on left is 90 s behind the database's.")
    ]
    assert found["versions"][0].summary == "Processes of different versions are alive: 0.1.0, 0.2.0."


@pytest.mark.parametrize(("files", "status"), [(100_000, CheckStatus.OK), (256, CheckStatus.WARNING)])
def test_a_low_limit_of_open_files_is_a_warning(files: int, status: CheckStatus) -> None:
    assert check_open_files(Settings(), files=files).status is status


async def test_the_server_for_mails_to_members_is_logged_in_to(tmp_path: Path) -> None:
    async with mail_server(log_in=True) as server:

        async def check(password: str) -> Finding:
            url = Secret(f"smtp://clarion:{password}@127.0.0.1:{server.port}?from=a@example.com")
            (finding,) = await check_mail(Settings(data_dir=tmp_path, mail_url=url))
            return finding

        right, wrong = await check(PASSWORD), await check("canary")

    assert (right.status, wrong.status) == (CheckStatus.OK, CheckStatus.PROBLEM)
    assert server.envelopes == []
    assert "canary" not in str(wrong)
    assert await check_mail(Settings(data_dir=tmp_path)) == []
