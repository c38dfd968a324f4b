"""All configuration, read once from CLARION_… variables; every default works on a laptop."""

import dataclasses
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from clarion.errors import SettingsError
from clarion.secret import Secret

_LOG_LEVELS = ("debug", "info", "warning", "error")
_LOG_FORMATS = ("auto", "json", "text")
_DATA_DIR = Path("clarion-data")
_SWITCH = {"on": True, "off": False}
RETENTION_DAYS = {
    "runs": 30,
    "inAppMessages": 90,
    "outbox": 7,
    "webhooks": 30,
    "receipts": 7,
    "idempotency": 1,
    "audit": 365,
    "workflowVersions": 90,
}
"""How long each kind of data is kept, unless the installation or the environment says otherwise."""
MIN_RETENTION_DAYS = {"webhooks": 5}
"""Where one day is not enough: deliveries of webhooks are retried for about four."""
MAX_RETENTION_DAYS = 36_500
ANY_ORIGIN = "*"


def _setting(default: Any, about: str) -> Any:
    return field(default=default, metadata={"about": about})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    host: str = _setting("127.0.0.1", "Address to listen on.")
    port: int = _setting(3000, "Port to listen on; 0 takes a free one.")
    data_dir: Path = _setting(_DATA_DIR, "Folder of the SQLite store and of generated keys.")
    database_url: Secret | None = _setting(
        None, "`postgresql://…` to use PostgreSQL; unset means SQLite in the data folder."
    )
    database_pool_size: int = _setting(10, "PostgreSQL connections per process.")
    builtin_name: str = _setting(
        "svc", "Name of the built-in providers and origins on the wire; `novu` suits published clients."
    )
    development_api_key: Secret | None = _setting(None, "First API key of Development; generated when unset.")
    production_api_key: Secret | None = _setting(None, "First API key of Production; generated when unset.")
    development_app_id: str | None = _setting(None, "Public application identifier of Development.")
    production_app_id: str | None = _setting(None, "Public application identifier of Production.")
    encryption_keys: Secret | None = _setting(
        None,
        "`id:base64 of 32 bytes`, comma-separated; the first one writes. Generated into the data folder when unset.",
    )
    public_url: str | None = _setting(
        None, "Address of the API as providers reach it, such as `https://api.example.com`: receipts are sent there."
    )
    cors_origins: tuple[str, ...] = _setting((), "Origins that browsers may call from, comma-separated, or `*`.")
    inbox_origins: tuple[str, ...] = _setting(
        (ANY_ORIGIN,), "Origins of the pages that may call the inbox and its sockets, comma-separated, or `*`."
    )
    session_days: int = _setting(15, "How many days the session of a subscriber's inbox lasts, 1 to 365.")
    bus_url: Secret | None = _setting(
        None, "`nats://…` to pass changes of inboxes between processes through NATS; unset: through PostgreSQL."
    )
    egress_allow: tuple[str, ...] = _setting(
        (), "Networks (CIDR, comma-separated) that providers may be reached in although they are not public."
    )
    max_connections: int | None = _setting(
        None, "Connections of clients at a time; unset: as many as the limit of open files allows, at most 10000."
    )
    max_sockets: int | None = _setting(
        None, "Open sockets of inboxes at a time; unset: as many as the limit of open files allows, at most 20000."
    )
    header_timeout_seconds: int = _setting(15, "How long a client may take to send the head of a request.")
    body_timeout_seconds: int = _setting(
        30, "How long a body may take, plus a second for each 8 KiB; a client that reads slower is disconnected too."
    )
    idle_timeout_seconds: int = _setting(61, "How long a connection is kept open between two requests.")
    shutdown_grace_seconds: int = _setting(20, "How long requests and sends under way may take after SIGTERM.")
    retention: tuple[tuple[str, int], ...] = _setting(
        tuple(RETENTION_DAYS.items()),
        "Days that each kind of data is kept, unless an environment sets its own; kinds that are left out keep their "
        "default.",
    )
    log_level: str = _setting("info", "`debug`, `info`, `warning` or `error`.")
    log_format: str = _setting("auto", "`json`, `text`, or `auto`: text in a terminal, else JSON lines.")
    demo: bool | None = _setting(
        None,
        "`on` or `off`: whether `/demo` shows the inbox of `ada` in Development, to browsers on this machine only; "
        "unset: on if it listens on a loopback address and has no public address.",
    )

    @property
    def serves_demo(self) -> bool:
        if self.demo is None:
            return self.public_url is None and is_loopback_host(self.host)
        return self.demo

    @property
    def retention_days(self) -> dict[str, int]:
        """Days by kind of data."""
        return dict(self.retention)

    @classmethod
    def load(cls, environ: Mapping[str, str], **overrides: Any) -> Self:
        """Read the variables, apply the overrides (command-line options), and refuse values that cannot work."""
        values: dict[str, Any] = {}
        for item in dataclasses.fields(cls):
            text = environ.get(variable(item.name))
            if text is not None and text != "":
                values[item.name] = _parse(item.name, text)
        values |= {
            name: _parse(name, value) if isinstance(value, str) else value
            for name, value in overrides.items()
            if value is not None
        }
        settings = cls(**values)
        _check(settings)
        return settings


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return f"CLARION_{name.upper()}"


_TIMEOUTS = ("header_timeout_seconds", "body_timeout_seconds", "idle_timeout_seconds")
_NUMBERS = frozenset(
    {
        *("port", "database_pool_size", "max_connections", "max_sockets", "session_days", "shutdown_grace_seconds"),
        *_TIMEOUTS,
    }
)
_ORIGINS = ("cors_origins", "inbox_origins")
_LISTS = frozenset({*_ORIGINS, "egress_allow"})
_SECRETS = frozenset({"database_url", "bus_url", "development_api_key", "production_api_key", "encryption_keys"})


def _parse(name: str, text: str) -> Any:
    if name in _NUMBERS:
        if not text.isascii() or not text.isdigit():
            raise SettingsError(f"{variable(name)} must be a whole number, not '{text}'.")
        return int(text)
    if name in _SECRETS:
        return Secret(text)
    if name == "data_dir":
        return Path(text)
    if name == "retention":
        return _parse_retention(text)
    if name == "demo":
        return _parse_switch(name, text)
    if name in _LISTS:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text


def _parse_switch(name: str, text: str) -> bool:
    if text not in _SWITCH:
        raise SettingsError(f"{variable(name)} must be 'on' or 'off', not '{text}'.")
    return _SWITCH[text]


def _parse_retention(text: str) -> tuple[tuple[str, int], ...]:
    """Read `runs=30,audit=365`."""
    found = dict(RETENTION_DAYS)
    for part in filter(None, (one.strip() for one in text.split(","))):
        kind, _, days = (one.strip() for one in part.partition("="))
        if kind not in RETENTION_DAYS:
            raise SettingsError(
                f"CLARION_RETENTION must be such as runs=30,audit=365, with {', '.join(RETENTION_DAYS)}; not '{part}'."
            )
        least = MIN_RETENTION_DAYS.get(kind, 1)
        if not days.isascii() or not days.isdigit() or not least <= int(days) <= MAX_RETENTION_DAYS:
            raise SettingsError(
                f"CLARION_RETENTION must give {kind} {least} to {MAX_RETENTION_DAYS} whole days, not '{days}'."
            )
        found[kind] = int(days)
    return tuple(found.items())


def _check(settings: Settings) -> None:
    _check_numbers(settings)
    _check_words(settings)
    _check_first_keys(settings)
    if settings.database_url is not None:
        _check_database_url(settings.database_url.reveal())
    _check_bus_url(settings)
    for name in _ORIGINS:
        for origin in getattr(settings, name):
            if not _is_origin(origin):
                raise SettingsError(
                    f"{variable(name)} must list origins such as https://app.example.com, not '{origin}'."
                )
    if settings.public_url is not None and not _is_base_url(settings.public_url):
        raise SettingsError(
            "CLARION_PUBLIC_URL must be an address such as https://api.example.com, without user, query and fragment."
        )
    for network in settings.egress_allow:
        if not _is_network(network):
            raise SettingsError(f"CLARION_EGRESS_ALLOW must list networks such as 10.0.0.0/8, not '{network}'.")


def _check_bus_url(settings: Settings) -> None:
    if settings.bus_url is None:
        return
    # The URL may contain a password, so the message does not repeat it.
    try:
        parts = urlsplit(settings.bus_url.reveal())
        is_valid = parts.scheme in ("nats", "tls") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_valid = False
    if not is_valid:
        raise SettingsError("CLARION_BUS_URL must be nats://user:password@host:port.")
    if settings.database_url is None:
        raise SettingsError(
            "CLARION_BUS_URL needs CLARION_DATABASE_URL: on SQLite one process does everything, and needs no bus."
        )


def _check_numbers(settings: Settings) -> None:
    if settings.port > 65_535:
        raise SettingsError(f"CLARION_PORT must be at most 65535, not {settings.port}.")
    if not 1 <= settings.database_pool_size <= 1_000:
        raise SettingsError("CLARION_DATABASE_POOL_SIZE must be between 1 and 1000.")
    if settings.max_connections is not None and settings.max_connections < 1:
        raise SettingsError("CLARION_MAX_CONNECTIONS must be at least 1.")
    if not 1 <= settings.session_days <= 365:
        raise SettingsError("CLARION_SESSION_DAYS must be between 1 and 365.")
    if settings.max_sockets is not None and settings.max_sockets < 1:
        raise SettingsError("CLARION_MAX_SOCKETS must be at least 1.")
    for name in _TIMEOUTS:
        if not 1 <= getattr(settings, name) <= 86_400:
            raise SettingsError(f"{variable(name)} must be between 1 and 86400.")


def _check_words(settings: Settings) -> None:
    if settings.log_level not in _LOG_LEVELS:
        raise SettingsError(f"CLARION_LOG_LEVEL must be one of {', '.join(_LOG_LEVELS)}, not '{settings.log_level}'.")
    if settings.log_format not in _LOG_FORMATS:
        raise SettingsError(
            f"CLARION_LOG_FORMAT must be one of {', '.join(_LOG_FORMATS)}, not '{settings.log_format}'."
        )
    if not re.fullmatch(r"[a-z][a-z0-9]{0,31}", settings.builtin_name):
        raise SettingsError(f"CLARION_BUILTIN_NAME must be a short lower-case word, not '{settings.builtin_name}'.")
    if not _is_host(settings.host):
        raise SettingsError(f"CLARION_HOST must be an address or a host name, not '{settings.host}'.")


def _check_first_keys(settings: Settings) -> None:
    for name in ("development_api_key", "production_api_key"):
        key: Secret | None = getattr(settings, name)
        if key is not None and not re.fullmatch(r"[\x21-\x7e]{16,255}", key.reveal()):
            raise SettingsError(f"{variable(name)} must have 16 to 255 printable characters without spaces.")
    for name in ("development_app_id", "production_app_id"):
        app_id: str | None = getattr(settings, name)
        if app_id is not None and not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", app_id):
            raise SettingsError(f"{variable(name)} must have 1 to 64 letters, digits, '-' or '_'.")


def _check_database_url(url: str) -> None:
    # The URL may contain a password, so the message does not repeat it.
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("postgresql", "postgres") and (parts.port is None or parts.port > 0)
    except ValueError:
        is_valid = False
    if not is_valid:
        raise SettingsError("CLARION_DATABASE_URL must be postgresql://user:password@host:port/database.")


def _is_origin(text: str) -> bool:
    parts = urlsplit(text)
    return text == ANY_ORIGIN or (parts.scheme in ("http", "https") and bool(parts.netloc) and not parts.path)


def _is_host(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,252})", text) is not None
    return True


def _is_base_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        is_complete = (
            parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        return False
    return is_complete and not (parts.query or parts.fragment or parts.username or parts.password)


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return True


def is_loopback_host(host: str) -> bool:
    """Whether a host, with a port or without, is this machine."""
    name = host[1 : host.find("]")] if host.startswith("[") else host if host.count(":") > 1 else host.partition(":")[0]
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
