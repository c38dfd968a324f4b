"""What a process says when it starts: a line of its log and, to a person at a terminal, how to begin.

Keys and the owner's link are shown at a terminal only: other output is collected, and read by more people.
"""

import logging
import sys

from rich.console import Console

from clarion import BUILD
from clarion.app import Application
from clarion.db.port import Connection
from clarion.environments.store import has_had_api_key, list_environments
from clarion.members.actions import make_setup_url
from clarion.members.store import has_owner
from clarion.settings.model import Settings

log = logging.getLogger(__name__)


def is_at_terminal() -> bool:
    """Whether a person sees what the process prints."""
    return sys.stdout.isatty()


async def announce_api(application: Application, kind: str, watched: str | None) -> None:
    """Say where the API is, and how to begin."""
    address = _address(application.settings)
    _log_start(application.settings, kind, {"address": address, "monitoring": watched})
    if is_at_terminal():
        now = application.services.clock.now()
        setup_url = await make_setup_url(application.database, application.settings, now)
        _print_welcome(application, address, setup_url)
        _print_watched(watched)
        _print(f"  API reference: {address}/docs")
    else:
        await application.database.read(_log_first_steps)


def announce_worker(settings: Settings, watched: str | None) -> None:
    _log_start(settings, "worker", {"monitoring": watched})
    if is_at_terminal():
        _print_watched(watched)
        _print(f"Clarion {BUILD} works on {_describe_store(settings)}")


def _log_start(settings: Settings, kind: str, fields: dict[str, str | None]) -> None:
    given = {name: value for name, value in fields.items() if value is not None}
    log.info("Started", extra={"command": kind, "version": BUILD, "store": _describe_store(settings), **given})


async def _log_first_steps(db: Connection) -> None:
    """Say how to get what a terminal would have shown."""
    environments = await list_environments(db)
    for environment in environments:
        if not await has_had_api_key(db, environment.id):
            hint = f"clarion keys create --environment '{environment.name}'"
            log.info("Environment has no API key yet", extra={"environment": environment.name, "hint": hint})
    if environments and not await has_owner(db, environments[0].organization_id):
        log.info("There is no owner yet", extra={"hint": "clarion members link"})


def _print_welcome(application: Application, address: str, setup_url: str | None) -> None:
    _print(f"Clarion {BUILD} listens on {address}, store: {_describe_store(application.settings)}")
    keys = {} if application.first_keys is None else application.first_keys.keys
    if keys:
        _print("  API keys, shown this once:")
        for name, key in keys.items():
            _print(f"    {name:12} {key}")
    else:
        _print("  No new API keys; make one: clarion keys create --environment Development")
    if "Development" in keys:
        _print("  Try it:")
        _print(
            f"    curl {address}/v2/subscribers -H 'Authorization: ApiKey {keys['Development']}' "
            '-H \'Content-Type: application/json\' -d \'{"subscriberId": "ada", "firstName": "Ada"}\''
        )
    else:
        _print(f"  curl {address}/v1/health-check")
    if setup_url is not None:
        _print(f"  Become the owner, within 30 minutes: {setup_url}")
    if application.settings.serves_demo:
        _print(f"  Inbox: {address}/demo")


def _print_watched(address: str | None) -> None:
    if address is not None:
        _print(f"  Monitoring: {address}/metrics")


def _address(settings: Settings) -> str:
    return f"http://{f'[{settings.host}]' if ':' in settings.host else settings.host}:{settings.port}"


def _describe_store(settings: Settings) -> str:
    return f"SQLite in {settings.data_dir}" if settings.database_url is None else "PostgreSQL"


def _print(line: str) -> None:
    Console().print(line, markup=False, highlight=False, soft_wrap=True)
    sys.stdout.flush()
