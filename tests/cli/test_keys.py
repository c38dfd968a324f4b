"""`clarion encryption`."""

from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from clarion.app import Application
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.errors import SettingsError
from clarion.monitoring.health import LACKING_KEY
from clarion.vault import Vault
from tests.processes import Start
from tests.support import Api

Run = Callable[..., CompletedProcess[str]]

OLD, NEW = f"old:{'A' * 43}=", f"new:{'B' * 43}="


def test_a_rotation_is_refused_until_every_running_process_has_the_key(
    start: Start, run_command: Run, store: list[str]
) -> None:
    def rotate() -> CompletedProcess[str]:
        return run_command("encryption", "rotate", *store, CLARION_ENCRYPTION_KEYS=f"{NEW},{OLD}")

    without = start("serve", *store, CLARION_ENCRYPTION_KEYS=OLD)
    refused = rotate()
    without.stop()
    start("serve", *store, CLARION_ENCRYPTION_KEYS=f"{OLD},{NEW}")
    rotated = rotate()

    assert refused.returncode == 1
    assert "Running processes lack the encryption key 'new': serve on " in refused.stderr
    assert f"(pid {without.popen.pid})" in refused.stderr
    assert (rotated.returncode, rotated.stderr) == (0, "")


async def test_a_process_that_is_asked_for_a_key_that_it_lacks_is_not_ready(
    api: Api, application: Application, database: Database
) -> None:
    sealed = Vault.parse(NEW).seal("{}", context=b"")
    created = await api.post("/v1/integrations", json={"providerId": "svc-email", "channel": "email"})
    spoil = sql("UPDATE integrations SET credentials = :sealed WHERE environment_id = :environment_id")
    values = {"sealed": sealed, "environment_id": api.environment.id}
    # The process is shared: other tests store what it cannot open, too.
    application.vault.lacking_key_ids.clear()
    before = await api.get("/ready")
    await database.transaction(lambda db: db.execute(spoil, **values))

    listed = await api.get("/v1/integrations")
    after = await api.get("/ready")
    application.vault.lacking_key_ids.clear()

    assert (created.status_code, before.status_code, listed.status_code) == (201, 200, 500)
    assert (after.status_code, after.json()["reasons"]) == (503, [LACKING_KEY])


def test_an_envelope_that_a_client_made_up_says_nothing_about_keys() -> None:
    vault = Vault.parse(OLD)
    envelope = Vault.parse(NEW).seal("secret", context=b"")

    with pytest.raises(SettingsError, match="sealed with key 'new'"):
        vault.open_foreign(envelope, context=b"")

    assert vault.lacking_key_ids == set()
