"""Settings of the database and of the bus: addresses that may contain a password, which no message repeats."""

from typing import Protocol
from urllib.parse import urlsplit

from clarion.errors import SettingsError
from clarion.secret import Secret


class StoreSettings(Protocol):
    """The settings that this module is about."""

    @property
    def database_url(self) -> Secret | None: ...
    @property
    def bus_url(self) -> Secret | None: ...


def check_store(settings: StoreSettings) -> None:
    """Raise SettingsError if the database or the bus cannot be addressed that way."""
    if settings.database_url is not None and not _is_address(settings.database_url, "postgresql", "postgres"):
        raise SettingsError("CLARION_DATABASE_URL must be postgresql://user:password@host:port/database.")
    if settings.bus_url is None:
        return
    if not _is_address(settings.bus_url, "nats", "tls") or not urlsplit(settings.bus_url.reveal()).hostname:
        raise SettingsError("CLARION_BUS_URL must be nats://user:password@host:port.")
    if settings.database_url is None:
        raise SettingsError(
            "CLARION_BUS_URL needs CLARION_DATABASE_URL: on SQLite one process does everything, and needs no bus."
        )


def _is_address(url: Secret, *schemes: str) -> bool:
    try:
        parts = urlsplit(url.reveal())
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    return parts.scheme in schemes and has_port
