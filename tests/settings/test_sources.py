"""Where settings come from: options, variables, files of secrets, the configuration file, defaults."""

from pathlib import Path

import pytest

from clarion.errors import SettingsError
from clarion.settings.model import Settings, known_settings
from clarion.settings.sources import find_values, find_warnings

URL = "postgresql://u:hunter2@localhost/x"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "database_url"
    path.write_text(URL + "\n")
    path.chmod(0o600)
    return path


def make_config(folder: Path, text: str, *, mode: int = 0o600) -> dict[str, str]:
    path = folder / "clarion.toml"
    path.write_text(text)
    path.chmod(mode)
    return {"CLARION_CONFIG": str(path)}


def test_the_port_of_the_platform_is_used_when_the_own_one_is_unset() -> None:
    assert Settings.load({"PORT": "8080"}).port == 8080
    assert Settings.load({"PORT": "8080", "CLARION_PORT": "4000"}).port == 4000
    with pytest.raises(SettingsError, match=r"CLARION_PORT must be a whole number, not 'http'\. It is set by PORT\."):
        Settings.load({"PORT": "http"})


def test_a_port_that_kubernetes_made_of_a_service_is_refused_with_the_way_out() -> None:
    with pytest.raises(SettingsError, match="enableServiceLinks: false"):
        Settings.load({"CLARION_PORT": "tcp://10.0.0.7:3000"})


def test_every_secret_can_come_from_a_file(tmp_path: Path, secret: Path) -> None:
    assert Settings.load({"CLARION_DATABASE_URL_FILE": str(secret)}).database_url.reveal() == URL  # type: ignore[union-attr]
    for one in known_settings():
        if one.is_secret:
            (tmp_path / one.name).write_bytes(b"a-secret-of-some-length\r\n")
            found = find_values({f"{one.variable}_FILE": str(tmp_path / one.name)}, known_settings())
            assert found[one.name].text.reveal() == "a-secret-of-some-length"


def test_a_secret_from_two_places_is_refused(secret: Path) -> None:
    both = {"CLARION_DATABASE_URL": URL, "CLARION_DATABASE_URL_FILE": str(secret)}

    with pytest.raises(
        SettingsError, match="CLARION_DATABASE_URL and CLARION_DATABASE_URL_FILE are both set"
    ) as raised:
        Settings.load(both)

    assert "hunter2" not in str(raised.value)
    assert Settings.load(both, database_url="postgresql://other/y").database_url.reveal() == "postgresql://other/y"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "No such file"), (b"", "is empty"), (b"\n", "is empty"), (b"\xff", "not text in UTF-8")],
)
def test_a_file_without_a_secret_is_refused_with_its_variable(
    tmp_path: Path, content: bytes | None, reason: str
) -> None:
    path = tmp_path / "secret"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(SettingsError, match=f"CLARION_BUS_URL_FILE names the file {path}.*{reason}"):
        Settings.load({"CLARION_BUS_URL_FILE": str(path)})


def test_options_win_over_variables_and_these_over_the_configuration_file(tmp_path: Path) -> None:
    config = make_config(tmp_path, 'port = 1\nhost = "::1"\nlog_level = "debug"\ndemo = true\n', mode=0o644)

    settings = Settings.load(config | {"CLARION_PORT": "2", "CLARION_HOST": "localhost"}, port="3")

    assert (settings.port, settings.host, settings.log_level, settings.demo) == (3, "localhost", "debug", True)
    assert settings.data_dir == Path("clarion-data")
    assert Settings.load(config | {"PORT": "4"}).port == 4


def test_the_configuration_file_has_lists_and_files_of_secrets(tmp_path: Path, secret: Path) -> None:
    text = f'cors_origins = ["https://a.example", "https://b.example"]\ndatabase_url_file = "{secret}"\n'

    settings = Settings.load(make_config(tmp_path, text, mode=0o644))

    assert settings.cors_origins == ("https://a.example", "https://b.example")
    assert settings.database_url is not None
    assert settings.database_url.reveal() == URL


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("prot = 1", r"sets 'prot', which is no setting; did you mean 'port'\?"),
        ("zzzzzz = 1", "`clarion settings` lists all of them"),
        ("[port]\nx = 1", "port in .* must be a text, a number"),
        ('cors_origins = ["a,b"]', "cors_origins in .* list of texts without commas"),
        ("port = ", "is not TOML"),
        ("port = 70000", r"CLARION_PORT must be at most 65535, not 70000\. It is set by port in .*clarion\.toml\."),
        ('bus_url = "x"\nbus_url_file = "/x"', "has both bus_url and bus_url_file"),
    ],
)
def test_a_line_of_the_configuration_file_that_is_not_valid_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        Settings.load(make_config(tmp_path, text))


def test_a_configuration_file_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"/nowhere/clarion\.toml cannot be read: No such file"):
        Settings.load({"CLARION_CONFIG": "/nowhere/clarion.toml"})


def test_secrets_in_a_configuration_file_that_everyone_can_open_are_refused(tmp_path: Path) -> None:
    text = f'database_url = "{URL}"'

    assert Settings.load(make_config(tmp_path, text, mode=0o640)).database_url is not None
    for mode in (0o644, 0o602):
        with pytest.raises(SettingsError, match=r"contains secrets \(database_url\).*chmod 640") as raised:
            Settings.load(make_config(tmp_path, text, mode=mode))
        assert "hunter2" not in str(raised.value)


def test_a_variable_that_is_no_setting_is_named_with_the_nearest_one(secret: Path) -> None:
    environ = {
        "CLARION_PROT": "1",
        "CLARION_PORT_FILE": "/x",
        "CLARION_CONFIG": "",
        "CLARION_BUS_URL_FILE": str(secret),
    }

    warnings = find_warnings(environ, known_settings())

    assert [one.fields for one in warnings] == [
        {"variable": "CLARION_PORT_FILE"},
        {"variable": "CLARION_PROT", "nearest": "CLARION_PORT"},
    ]
    assert "only secrets are read from files" in warnings[0].message


def test_a_secret_that_every_user_can_read_is_named(secret: Path) -> None:
    secret.chmod(0o644)

    (warning,) = find_warnings({"CLARION_DATABASE_URL_FILE": str(secret)}, known_settings())

    assert warning.fields == {"variable": "CLARION_DATABASE_URL_FILE", "file": str(secret)}
