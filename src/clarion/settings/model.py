"""All configuration, read once from CLARION_… variables and a file; every default works on a laptop."""

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

from clarion.errors import SettingsError
from clarion.secret import Secret
from clarion.settings.addresses import (
    ANY_ORIGIN,
    check_store,
    is_base_url,
    is_host,
    is_loopback_host,
    is_network,
    is_origin,
    parse_mail_url,
)
from clarion.settings.rate_limits import LimitCategory, RateLimit, parse_rate_limits
from clarion.settings.retention import DEFAULT_DAYS, LEAST_DAYS, MOST_DAYS, parse_days
from clarion.settings.sign_in import check_sign_in, parse_domains
from clarion.settings.sources import PREFIX, KnownSetting, find_values, name_sources
from clarion.vocabulary import Role

_LOG_LEVELS = ("debug", "info", "warning", "error")
_LOG_FORMATS = ("auto", "json", "text")
_DATA_DIR = Path("clarion-data")
_SWITCH = {"on": True, "off": False}


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
        None,
        "Address of the API as providers and people reach it, such as `https://api.example.com`: receipts are sent "
        "there, and links to unsubscribe lead there.",
    )
    cors_origins: tuple[str, ...] = _setting((), "Origins that browsers may call from, comma-separated, or `*`.")
    inbox_origins: tuple[str, ...] = _setting(
        (ANY_ORIGIN,), "Origins of the pages that may call the inbox and its sockets, comma-separated, or `*`."
    )
    session_days: int = _setting(15, "How many days the session of a subscriber's inbox lasts, 1 to 365.")
    unproven_subscribers: int = _setting(
        1_000, "How many subscribers of an environment inboxes without a `subscriberHash` may create, 0 to 1000000."
    )
    bus_url: Secret | None = _setting(
        None, "`nats://…` to pass changes of inboxes between processes through NATS; unset: through PostgreSQL."
    )
    egress_allow: tuple[str, ...] = _setting(
        (), "Networks (CIDR, comma-separated) that providers may be reached in although they are not public."
    )
    trusted_proxies: tuple[str, ...] = _setting(
        (), "Networks (CIDR, comma-separated) of proxies whose `X-Forwarded-For` or `Forwarded` names the client."
    )
    rate_limits: tuple[tuple[LimitCategory, RateLimit], ...] = _setting(
        (),
        "Limits of each environment that sets none of its own, such as `trigger=100/s burst 200, global=1000/s`; "
        "categories: `trigger`, `configuration`, `global`.",
    )
    max_rate_limits: tuple[tuple[LimitCategory, RateLimit], ...] = _setting(
        (),
        "Limits that no environment can exceed, in the same form; unset categories: as in `CLARION_RATE_LIMITS`.",
    )
    failed_keys_per_minute: int = _setting(
        60, "Requests with invalid API keys from one address before they get 429; 0: no limit."
    )
    monitor_port: int | None = _setting(
        None, "Port for /metrics, /live and /ready of every kind of process; unset: none; 0 takes a free one."
    )
    monitor_host: str = _setting("127.0.0.1", "Address that the monitoring port listens on.")
    metrics_token: Secret | None = _setting(
        None, "Whoever asks for metrics has to send it; if set, the API's port serves /metrics as well."
    )
    health_file: Path | None = _setting(
        None, "File that is touched every 5 seconds while the process is ready, and removed while it is not."
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
        tuple(DEFAULT_DAYS.items()),
        "Days that each kind of data is kept, unless an environment sets its own; kinds that are left out keep their "
        "default.",
    )
    mail_url: Secret | None = _setting(
        None,
        "SMTP server for mails to members of the team, such as "
        "`smtp://user:password@smtp.example.com:587?from=clarion@example.com`; `smtps://` speaks TLS at once.",
    )
    max_retention: tuple[tuple[str, int], ...] = _setting(
        tuple(MOST_DAYS.items()), "Days that an environment can set at most, or those of `CLARION_RETENTION` if more."
    )
    min_retention: tuple[tuple[str, int], ...] = _setting(
        tuple(LEAST_DAYS.items()),
        "Days that an environment can set at least, or those of `CLARION_RETENTION` if fewer.",
    )
    passwords: bool = _setting(True, "`off` lets members sign in with OpenID Connect only.")  # noqa: FBT003
    oidc_issuer: str | None = _setting(
        None, "OpenID Connect provider that members sign in with, such as `https://accounts.example.com`."
    )
    oidc_client_id: str | None = _setting(None, "Name of this installation at the OpenID Connect provider.")
    oidc_client_secret: Secret | None = _setting(None, "Secret of this installation there, if the provider gave one.")
    oidc_redirect: str | None = _setting(
        None, "Address that the provider sends people back to; unset: `/v1/auth/oidc/callback` at the public address."
    )
    oidc_domains: tuple[tuple[str, Role], ...] = _setting(
        (),
        "Roles that people get who sign in with an address of a domain, such as `example.com=viewer`; others need an "
        "invitation.",
    )
    oidc_trust_addresses: str | None = _setting(
        None,
        "The issuer again, if it does not say whether it has verified addresses, as Microsoft Entra, and people cannot "
        "choose theirs there.",
    )
    log_level: str = _setting("info", "`debug`, `info`, `warning` or `error`.")
    log_format: str = _setting("auto", "`json`, `text`, or `auto`: text in a terminal, else JSON lines.")
    log_file: Path | None = _setting(
        None, "File for the log instead of standard error; opened again after it is renamed, and at SIGHUP."
    )
    traces_endpoint: str | None = _setting(
        None,
        "OpenTelemetry collector (OTLP over HTTP) that gets traces, such as `http://collector:4318`; "
        "needs `clarion[traces]`.",
    )
    traces_sample: float = _setting(
        0.01, "Share of triggers that start a trace, 0 to 1; a request with a `traceparent` decides for itself."
    )
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

    def retention_range(self, kind: str) -> tuple[int, int]:
        """How many days of a kind of data an environment may choose, at least and at most."""
        default = self.retention_days[kind]
        return min(default, dict(self.min_retention).get(kind, 1)), max(default, dict(self.max_retention)[kind])

    @property
    def limit_ceilings(self) -> dict[LimitCategory, RateLimit]:
        """The rate limits that no environment can exceed."""
        return {**dict(self.rate_limits), **dict(self.max_rate_limits)}

    @classmethod
    def load(cls, environ: Mapping[str, str], **overrides: Any) -> Self:
        """Read variables and files, apply the overrides (command-line options), and refuse values that cannot work."""
        options = {name: value for name, value in overrides.items() if value is not None}
        found_values = find_values(environ, known_settings(), given=options)
        try:
            values = {name: _parse(name, one.text.reveal()) for name, one in found_values.items()}
            values |= {name: _parse(name, one) if isinstance(one, str) else one for name, one in options.items()}
            settings = cls(**values)
            _check(settings)
        except SettingsError as error:
            raise name_sources(error, found_values, known_settings()) from error
        return settings


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return f"{PREFIX}{name.upper()}"


def known_settings() -> list[KnownSetting]:
    """Every setting, for those who look for its value."""
    return [
        KnownSetting(item.name, variable(item.name), item.name in _SECRETS) for item in dataclasses.fields(Settings)
    ]


_TIMEOUTS = ("header_timeout_seconds", "body_timeout_seconds", "idle_timeout_seconds")
_RANGES = {
    "database_pool_size": (1, 1_000),
    "session_days": (1, 365),
    "unproven_subscribers": (0, 1_000_000),
    **dict.fromkeys(_TIMEOUTS, (1, 86_400)),
}
_NUMBERS = frozenset(
    {
        *("port", "database_pool_size", "max_connections", "max_sockets", "session_days", "shutdown_grace_seconds"),
        "unproven_subscribers",
        *("failed_keys_per_minute", "monitor_port"),
        *_TIMEOUTS,
    }
)
_ORIGINS = ("cors_origins", "inbox_origins")
_NETWORKS = ("egress_allow", "trusted_proxies")
_LISTS = frozenset({*_ORIGINS, *_NETWORKS})
_SECRETS = frozenset(
    {
        *("database_url", "bus_url", "development_api_key", "production_api_key", "encryption_keys", "metrics_token"),
        *("oidc_client_secret", "mail_url"),
    }
)

# Kubernetes adds CLARION_PORT to the pods of a namespace that has a Service named `clarion`.
_SERVICE_LINK_HINT = " Kubernetes sets it for a Service of that name: set `enableServiceLinks: false` in the pod."


def _parse(name: str, text: str) -> Any:
    if name in _NUMBERS:
        if not text.isascii() or not text.isdigit():
            hint = _SERVICE_LINK_HINT if text.startswith("tcp://") else ""
            raise SettingsError(f"{variable(name)} must be a whole number, not '{text}'.{hint}")
        return int(text)
    if name in _SECRETS:
        return Secret(text)
    if name in _LISTS:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return _PARSERS[name](text) if name in _PARSERS else text


def _parse_switch(name: str, text: str) -> bool:
    if text not in _SWITCH:
        raise SettingsError(f"{variable(name)} must be 'on' or 'off', not '{text}'.")
    return _SWITCH[text]


def _parse_rate_limits(name: str, text: str) -> tuple[tuple[LimitCategory, RateLimit], ...]:
    try:
        return tuple(parse_rate_limits(text).items())
    except ValueError as error:
        raise SettingsError(f"{variable(name)}: {error}.") from None


def _parse_share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise SettingsError(f"CLARION_TRACES_SAMPLE must be a number between 0 and 1, not '{text}'.")
    return share


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "data_dir": Path,
    "demo": partial(_parse_switch, "demo"),
    "oidc_domains": parse_domains,
    "passwords": partial(_parse_switch, "passwords"),
    "health_file": Path,
    "log_file": Path,
    "max_rate_limits": partial(_parse_rate_limits, "max_rate_limits"),
    "max_retention": lambda text: parse_days("CLARION_MAX_RETENTION", text, MOST_DAYS),
    "min_retention": lambda text: parse_days("CLARION_MIN_RETENTION", text, LEAST_DAYS),
    "rate_limits": partial(_parse_rate_limits, "rate_limits"),
    "retention": lambda text: parse_days("CLARION_RETENTION", text, DEFAULT_DAYS),
    "traces_sample": _parse_share,
}
_ADDRESSES = {"public_url": "https://api.example.com", "traces_endpoint": "http://collector:4318"}


def _check(settings: Settings) -> None:
    _check_numbers(settings)
    _check_words(settings)
    _check_first_keys(settings)
    _check_monitoring(settings)
    check_sign_in(settings)
    if settings.mail_url is not None:
        parse_mail_url(settings.mail_url)
    check_store(settings.database_url, settings.bus_url)
    _check_origins(settings)
    for name, example in _ADDRESSES.items():
        address = getattr(settings, name)
        if address is not None and not is_base_url(address):
            raise SettingsError(
                f"{variable(name)} must be an address such as {example}, without user, query and fragment."
            )
    for name in _NETWORKS:
        for network in getattr(settings, name):
            if not is_network(network):
                raise SettingsError(f"{variable(name)} must list networks such as 10.0.0.0/8, not '{network}'.")


def _check_origins(settings: Settings) -> None:
    for name in _ORIGINS:
        for origin in getattr(settings, name):
            if not is_origin(origin):
                raise SettingsError(
                    f"{variable(name)} must list origins such as https://app.example.com, not '{origin}'."
                )


def _check_numbers(settings: Settings) -> None:
    if settings.port > 65_535:
        raise SettingsError(f"CLARION_PORT must be at most 65535, not {settings.port}.")
    if settings.max_connections is not None and settings.max_connections < 1:
        raise SettingsError("CLARION_MAX_CONNECTIONS must be at least 1.")
    if settings.max_sockets is not None and settings.max_sockets < 1:
        raise SettingsError("CLARION_MAX_SOCKETS must be at least 1.")
    for name, (least, most) in _RANGES.items():
        if not least <= getattr(settings, name) <= most:
            raise SettingsError(f"{variable(name)} must be between {least} and {most}.")


def _check_words(settings: Settings) -> None:
    if settings.log_level not in _LOG_LEVELS:
        raise SettingsError(f"CLARION_LOG_LEVEL must be one of {', '.join(_LOG_LEVELS)}, not '{settings.log_level}'.")
    if settings.log_format not in _LOG_FORMATS:
        raise SettingsError(
            f"CLARION_LOG_FORMAT must be one of {', '.join(_LOG_FORMATS)}, not '{settings.log_format}'."
        )
    if not re.fullmatch(r"[a-z][a-z0-9]{0,31}", settings.builtin_name):
        raise SettingsError(f"CLARION_BUILTIN_NAME must be a short lower-case word, not '{settings.builtin_name}'.")
    if not is_host(settings.host):
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


def _check_monitoring(settings: Settings) -> None:
    if settings.monitor_port is not None and settings.monitor_port > 65_535:
        raise SettingsError(f"CLARION_MONITOR_PORT must be at most 65535, not {settings.monitor_port}.")
    if not is_host(settings.monitor_host):
        raise SettingsError(f"CLARION_MONITOR_HOST must be an address or a host name, not '{settings.monitor_host}'.")
    token = settings.metrics_token
    if token is not None and not re.fullmatch(r"[\x21-\x7e]{16,255}", token.reveal()):
        raise SettingsError("CLARION_METRICS_TOKEN must have 16 to 255 printable characters without spaces.")
    if settings.health_file is not None and not settings.health_file.parent.is_dir():
        raise SettingsError(f"CLARION_HEALTH_FILE must be in a folder that exists, not {settings.health_file}.")
