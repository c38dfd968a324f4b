"""docs/self-hosting.md: its commands, files and settings exist."""

import re
import tomllib
from pathlib import Path

from clarion.cli.commands import COMMANDS
from clarion.settings.model import Settings
from tests.deploy import files

GUIDE = (files.ROOT / "docs" / "self-hosting.md").read_text()


def test_every_file_and_target_in_the_guide_exists() -> None:
    paths = set(re.findall(r"\b(?:deploy|requirements)/[\w./-]*\w", GUIDE))
    targets = set(re.findall(r"`make ([a-z-]+)`", GUIDE))
    makefile = (files.ROOT / "Makefile").read_text()

    assert len(paths) > 6
    made = {path for path in paths if path.startswith("deploy/docker/secrets")}
    assert [path for path in paths - made if not (files.ROOT / path).exists()] == []
    assert [target for target in targets if f"\n{target}:" not in makefile] == []
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", GUIDE)]
    assert [link for link in links if link and not (files.ROOT / "docs" / link).exists()] == []


def test_every_command_and_unit_in_the_guide_exists() -> None:
    commands: set[str] = set(COMMANDS)
    units = {path.stem for path in files.UNITS}

    assert set(re.findall(r"\bclarion ([a-z]+)(?= --|`)", GUIDE)) <= commands
    for line in re.findall(r"^systemctl (?:start|enable --now) (.+)$", GUIDE, re.MULTILINE):
        assert {re.sub(r"@\d+", "@", name) for name in line.split()} <= units
    assert files.VERSION in GUIDE
    assert f"clarion-migrate-{files.VERSION.replace('.', '-')}" in GUIDE


def test_the_configuration_file_of_the_guide_works(tmp_path: Path) -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)
    (tmp_path / "url").write_text("postgresql://localhost/x")
    config = tmp_path / "clarion.toml"
    config.write_text(text.replace("/etc/clarion/database_url", str(tmp_path / "url")))

    settings = Settings.load({"CLARION_CONFIG": str(config)})

    assert tomllib.loads(text).keys() - {"database_url_file"} <= set(dir(settings))
    assert (settings.host, settings.database_pool_size, len(settings.cors_origins)) == ("0.0.0.0", 20, 2)
    assert settings.shutdown_grace_seconds == 20
