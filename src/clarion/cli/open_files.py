"""How many files the process may have open, and how many of them connections of clients may take."""

import resource
from contextlib import suppress

from clarion.errors import SettingsError
from clarion.settings.model import Settings

DEFAULT_MAX_CONNECTIONS = 10_000
DEFAULT_MAX_SOCKETS = 20_000
_MIN_RESERVED_FILES = 64


def raise_open_files() -> None:
    """Raise the soft limit of open files to the hard one; where the system refuses that, it stays."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def choose_max_connections(settings: Settings, *, files: int | None = None) -> int:
    """How many connections to accept, so that files remain for the store, for providers and for operators."""
    if files is None:
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return settings.max_connections or DEFAULT_MAX_CONNECTIONS
    reserved = min(_MIN_RESERVED_FILES + settings.database_pool_size, files // 2)
    if settings.max_connections is None:
        return max(1, min(DEFAULT_MAX_CONNECTIONS, files - max(reserved, files // 4)))
    if settings.max_connections > files - reserved:
        raise SettingsError(
            f"CLARION_MAX_CONNECTIONS is {settings.max_connections}, but the process may have {files} files open and "
            f"needs {reserved} of them for other things; raise the limit of open files (`ulimit -n`)."
        )
    return settings.max_connections


def choose_max_sockets(settings: Settings, max_connections: int, *, files: int | None = None) -> int:
    """How many sockets of inboxes to accept beside the connections of requests."""
    if files is None:
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return settings.max_sockets or DEFAULT_MAX_SOCKETS
    reserved = min(_MIN_RESERVED_FILES + settings.database_pool_size, files // 2)
    free = files - reserved - max_connections
    if settings.max_sockets is None:
        return max(1, min(DEFAULT_MAX_SOCKETS, free))
    if settings.max_sockets > free:
        raise SettingsError(
            f"CLARION_MAX_SOCKETS is {settings.max_sockets}, but the process may have {files} files open and needs "
            f"{files - free} of them for requests and other things; raise the limit of open files (`ulimit -n`) or "
            "lower CLARION_MAX_CONNECTIONS."
        )
    return settings.max_sockets
