"""A start or a command that is refused leaves nothing new behind."""

from pathlib import Path

import pytest

from clarion.app import open_application
from clarion.errors import ClarionError, SettingsError, StoreOutdated
from clarion.secret import Secret
from clarion.settings.model import Settings
from tests.cli.support import run_here


async def start(settings: Settings, *, migrate: bool = True) -> None:
    async with open_application(settings, migrate=migrate, makes_keys=True):
        pass


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str | None:
    """An empty database, or none for SQLite."""
    return None if request.param == "sqlite" else str(request.getfixturevalue("fresh_postgres_url"))


async def test_a_start_without_the_keys_of_the_store_makes_none(url: str | None, tmp_path: Path) -> None:
    data, other = tmp_path / "data", tmp_path / "other"
    secret_url = None if url is None else Secret(url)
    await start(Settings(data_dir=data, database_url=secret_url))
    key_id = (data / "encryption.keys").read_text().partition(":")[0]
    (data / "encryption.keys").rename(tmp_path / "kept")
    again = data if url is None else other

    with pytest.raises(SettingsError, match=f"sealed with encryption key '{key_id}', which this process does not have"):
        await start(Settings(data_dir=again, database_url=secret_url))

    assert not (again / "encryption.keys").exists()
    assert not other.exists()


async def test_a_start_with_keys_that_are_not_valid_makes_no_store(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="CLARION_ENCRYPTION_KEYS must be"):
        await start(Settings(data_dir=tmp_path / "data", encryption_keys=Secret("no key")))

    assert not (tmp_path / "data").exists()


async def test_a_process_that_finds_no_store_makes_neither_a_folder_nor_keys(tmp_path: Path) -> None:
    with pytest.raises(StoreOutdated, match=f"There is no store in {tmp_path / 'data'} yet"):
        await start(Settings(data_dir=tmp_path / "data"), migrate=False)

    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    "command",
    [
        ["keys", "create", "--environment", "Development"],
        ["environments", "create", "Staging"],
        ["organizations", "create", "Acme"],
        ["encryption", "rotate"],
        ["demo"],
        ["keys", "list"],
        ["doctor"],
        ["status"],
    ],
    ids=" ".join,
)
def test_a_command_in_a_folder_without_a_store_makes_nothing(tmp_path: Path, command: list[str]) -> None:
    result = run_here(*command, "--data-dir", str(tmp_path / "mistyped"))

    assert result.exit_code == 1
    assert isinstance(result.exception, (ClarionError, SystemExit))
    assert list(tmp_path.iterdir()) == []
