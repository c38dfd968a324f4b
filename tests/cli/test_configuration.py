"""`clarion settings`, and `--config` before and after a command."""

from pathlib import Path
from typing import Any

from clarion.cli.options import config_first


def test_settings_shows_where_each_value_comes_from_and_no_secret(run_command: Any, tmp_path: Path) -> None:
    secret, config = tmp_path / "url", tmp_path / "c.toml"
    secret.write_text("postgresql://u:hunter2@localhost/x\n")
    secret.chmod(0o600)
    config.write_text(f'log_level = "error"\ndatabase_url_file = "{secret}"\n')

    shown = run_command(
        "settings", "--config", str(config), COLUMNS="900", CLARION_LOG_FORMAT="json", CLARION_PROT="1", CLARION_PORT=""
    )

    lines = {line.split()[1]: line for line in shown.stdout.splitlines() if line.startswith("│ CLARION_")}
    assert shown.returncode == 0, shown.stderr
    assert "hunter2" not in shown.stdout
    assert f"*** │ {secret} (database_url_file in {config})" in " ".join(lines["CLARION_DATABASE_URL"].split())
    assert f"error │ log_level in {config}" in " ".join(lines["CLARION_LOG_LEVEL"].split())
    assert "json │ CLARION_LOG_FORMAT" in " ".join(lines["CLARION_LOG_FORMAT"].split())
    assert "127.0.0.1 │ default" in " ".join(lines["CLARION_HOST"].split())
    assert "CLARION_PROT, nearest: CLARION_PORT" in shown.stdout


def test_settings_shows_a_value_that_is_refused_and_says_why(run_command: Any) -> None:
    shown = run_command("settings", PORT="http", CLARION_PORT="", COLUMNS="200")

    assert shown.returncode == 2
    assert "http" in shown.stdout
    assert "CLARION_PORT must be a whole number, not 'http'. It is set by PORT." in shown.stderr


def test_config_is_an_option_of_every_command() -> None:
    assert config_first(["keys", "list", "--config", "a", "--x"]) == ["--config", "a", "keys", "list", "--x"]
    assert config_first(["serve", "--config=a"]) == ["--config=a", "serve"]
    assert config_first(["--config", "a", "serve"]) == ["--config", "a", "serve"]
    assert config_first(["serve", "--", "--config"]) == ["serve", "--", "--config"]
