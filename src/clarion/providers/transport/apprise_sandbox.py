"""The sandbox process, which sends one notification with Apprise and is prevented from doing anything else.

Apprise plugins resolve names and open connections in many ways. An audit hook of the interpreter sees the address of
each connection, whichever library opens it, and applies the rules of the egress guard. It also refuses access to files,
which Apprise URLs can name, and starting programs. An audit hook cannot be removed and slows everything down, so
Apprise runs in a separate process.
"""

import os
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apprise
import msgspec

from clarion.providers.transport.apprise_client import AppriseRequest, AppriseResult
from clarion.providers.transport.egress import EgressGuard

_FORBIDDEN = ("subprocess.", "os.", "pty.", "ctypes.", "syslog.", "shutil.", "tempfile.", "socket.bind", "webbrowser.")
_HARMLESS = frozenset({"os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.getxattr", "os.listxattr", "os.putenv"})
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CONNECTIONS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
# Files that imports read, besides those of the interpreter and its packages.
_READABLE = ("/etc/ssl/", "/etc/mime.types", "/etc/localtime", "/usr/share/zoneinfo/", "/dev/null", "/dev/urandom")


class ForbiddenError(PermissionError):
    """An operation that the sandbox does not allow."""


def main() -> None:
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=AppriseRequest)
    sys.stdout.buffer.write(msgspec.json.encode(_notify(request)))


def _notify(request: AppriseRequest) -> AppriseResult:
    asset = apprise.AppriseAsset(
        storage_mode=apprise.PersistentStoreMode.MEMORY,
        allow_templates=False,
        service_timeout=request.seconds,
        http_redirects=False,
    )
    # The first URL loads all plugins, which must happen before files become inaccessible.
    apprise.Apprise.instantiate("json://localhost", asset=asset)
    refusals = confine(EgressGuard(request.allow))
    service = apprise.Apprise.instantiate(request.url, asset=asset)
    if service is None:
        return AppriseResult(status="forbidden" if refusals else "unknown service", details="; ".join(refusals))
    # A URL can turn redirects on.
    service.redirects = False
    notifier = apprise.Apprise(asset=asset)
    notifier.add(service)
    result = notifier.notify(body=request.body, title=request.title, body_format=apprise.NotifyFormat.TEXT)
    name = str(service.service_name)
    if result:
        return AppriseResult(status="sent", service=name)
    if refusals:
        return AppriseResult(status="forbidden", service=name, details="; ".join(refusals))
    timed_out = result.status is apprise.AppriseResultStatus.TIMEOUT
    return AppriseResult(status="timed out" if timed_out else "failed", service=name, details=_last_log_message(result))


def confine(guard: EgressGuard) -> list[str]:
    """Restrict this process to connections that the guard allows; returns the list that refusals are added to."""
    refusals: list[str] = []
    readable = (*_READABLE, *(f"{path}/" for path in {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values()}))

    def refuse(what: str) -> None:
        refusals.append(what)
        raise ForbiddenError(what)

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _CONNECTIONS:
            _check_connection(guard, arguments[1], refuse)
        elif event == "open":
            _check_file(arguments, readable, refuse)
        elif event.startswith(_FORBIDDEN) and event not in _HARMLESS:
            refuse(f"{event} is not for notifications")

    sys.addaudithook(watch)
    return refusals


def _check_connection(guard: EgressGuard, address: Any, refuse: Callable[[str], None]) -> None:
    # A send on a connected socket has no address.
    if address is None:
        return
    host = address[0] if isinstance(address, tuple) and address else ""
    if not isinstance(host, str) or not guard.is_host_allowed(host):
        refuse("The host is not allowed by CLARION_EGRESS_ALLOW")


def _check_file(arguments: tuple[Any, ...], readable: tuple[str, ...], refuse: Callable[[str], None]) -> None:
    path, _, flags = arguments
    if isinstance(path, int):
        return
    text = str(Path(path.decode() if isinstance(path, bytes) else path).resolve())
    if flags & _WRITES or not text.startswith(readable):
        refuse("Files are not for notifications")


def _last_log_message(result: Any) -> str:
    lines = [str(entry.message) for one in result.results for attempt in one.attempts for entry in attempt.logs]
    return lines[-1] if lines else ""


if __name__ == "__main__":
    main()
