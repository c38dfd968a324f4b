"""Where the values of settings come from: variables, files of secrets, and the configuration file."""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from clarion.errors import SettingsError
from clarion.secret import Secret
from clarion.vocabulary import find_nearest, suggestion

PREFIX = "CLARION_"
CONFIG_VARIABLE = "CLARION_CONFIG"
PLATFORM_PORT = "PORT"
_FILE = "_FILE"
_LIST_HINT = "; `clarion settings` lists all of them"
_READ_BY_ALL, _OPEN_TO_ALL = 0o004, 0o006
# Containers mount secrets here, and have no other users.
_CONTAINER_SECRETS = (Path("/run/secrets"), Path("/var/run/secrets"))


class KnownSetting(Struct, frozen=True):
    name: str
    variable: str
    is_secret: bool


class FoundValue(Struct, frozen=True):
    """The text of a setting, hidden because it may be a secret, and where it was found."""

    text: Secret
    source: str


class SettingsWarning(Struct, frozen=True):
    message: str
    fields: dict[str, str]


def find_values(
    environ: Mapping[str, str], known: Sequence[KnownSetting], *, given: Collection[str] = ()
) -> dict[str, FoundValue]:
    """The settings that a variable, a file of a secret or the configuration file sets, except those already given."""
    path = environ.get(CONFIG_VARIABLE)
    config = _read_config(Path(path), known) if path else {}
    values: dict[str, FoundValue] = {}
    for setting in known:
        if setting.name not in given:
            value = _find_variable(environ, setting) or _find_in_config(config, setting, path or "")
            if value is not None:
                values[setting.name] = value
    return values


def find_warnings(environ: Mapping[str, str], known: Sequence[KnownSetting]) -> list[SettingsWarning]:
    """Variables that look like settings and are none, and secrets in files that everyone can read."""
    names = {one.variable for one in known} | {one.variable + _FILE for one in known if one.is_secret}
    unknown = sorted(name for name in environ if name.startswith(PREFIX) and name not in {*names, CONFIG_VARIABLE})
    warnings = [_warn_of_variable(name, names) for name in unknown]
    for setting in known:
        path = environ.get(setting.variable + _FILE) if setting.is_secret else None
        if path and _is_open_to_all(Path(path)):
            fields = {"variable": setting.variable + _FILE, "file": path}
            warnings.append(SettingsWarning("File of a secret can be read by every user of this machine", fields))
    return warnings


def name_sources(
    error: SettingsError, values: Mapping[str, FoundValue], known: Sequence[KnownSetting]
) -> SettingsError:
    """The error, with where the setting that it is about was found if that is not its variable."""
    message = str(error)
    for setting in known:
        value = values.get(setting.name)
        if value and value.source != setting.variable and re.search(rf"\b{setting.variable}\b", message):
            message += f" It is set by {value.source}."
    return SettingsError(message)


def _find_variable(environ: Mapping[str, str], setting: KnownSetting) -> FoundValue | None:
    text = environ.get(setting.variable)
    path = environ.get(setting.variable + _FILE) if setting.is_secret else None
    if text and path:
        raise SettingsError(f"{setting.variable} and {setting.variable}{_FILE} are both set; unset one of them.")
    if path:
        return FoundValue(_read_secret(path, setting.variable + _FILE), f"{path} ({setting.variable}{_FILE})")
    if text:
        return FoundValue(Secret(text), setting.variable)
    if setting.name == "port" and (platform_port := environ.get(PLATFORM_PORT)):
        return FoundValue(Secret(platform_port), PLATFORM_PORT)
    return None


def _find_in_config(config: Mapping[str, str], setting: KnownSetting, path: str) -> FoundValue | None:
    file_name = setting.name + _FILE.lower()
    text, secret_path = config.get(setting.name), config.get(file_name)
    if text and secret_path:
        raise SettingsError(f"{path} has both {setting.name} and {file_name}; remove one of them.")
    if secret_path:
        return FoundValue(_read_secret(secret_path, f"{file_name} in {path}"), f"{secret_path} ({file_name} in {path})")
    return FoundValue(Secret(text), f"{setting.name} in {path}") if text else None


def _read_secret(path: str, name: str) -> Secret:
    try:
        text = Path(path).read_text(encoding="utf-8").rstrip("\r\n")
    except OSError as error:
        raise SettingsError(f"{name} names the file {path}, which cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{name} names the file {path}, which is not text in UTF-8.") from error
    if not text:
        raise SettingsError(f"{name} names the file {path}, which is empty.")
    return Secret(text)


def _read_config(path: Path, known: Sequence[KnownSetting]) -> dict[str, str]:
    import tomllib  # noqa: PLC0415 - most starts have no such file

    try:
        parsed = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"The configuration file {path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"The configuration file {path} is not TOML: {error}.") from error
    secrets = {one.name for one in known if one.is_secret}
    names = {one.name for one in known} | {name + _FILE.lower() for name in secrets}
    for name in parsed:
        if name not in names:
            hint = suggestion(name, names) or _LIST_HINT
            raise SettingsError(f"The configuration file {path} sets '{name}', which is no setting{hint}.")
    if secrets & parsed.keys() and path.stat().st_mode & _OPEN_TO_ALL:
        raise SettingsError(
            f"The configuration file {path} contains secrets ({', '.join(sorted(secrets & parsed.keys()))}), but every "
            "user of this machine can open it; run `chmod 640` on it, or name files of secrets in it instead."
        )
    return {name: _config_text(value, f"{name} in {path}") for name, value in parsed.items()}


def _config_text(value: Any, name: str) -> str:
    """A value of the configuration file in the form that a variable has."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, list) and all(isinstance(part, str) and "," not in part for part in value):
        return ",".join(value)
    raise SettingsError(f"{name} must be a text, a number, true or false, or a list of texts without commas.")


def _warn_of_variable(name: str, names: Collection[str]) -> SettingsWarning:
    fields = {"variable": name}
    if name.endswith(_FILE) and name.removesuffix(_FILE) in names:
        return SettingsWarning("Variable is ignored: only secrets are read from files", fields)
    nearest = find_nearest(name, names)
    return SettingsWarning("Variable is not a setting", fields | ({"nearest": nearest} if nearest else {}))


def _is_open_to_all(path: Path) -> bool:
    if any(path.is_relative_to(folder) for folder in _CONTAINER_SECRETS):
        return False
    try:
        return bool(path.stat().st_mode & _READ_BY_ALL)
    except OSError:
        return False
