"""The confined process: sends one notification by Apprise, and can do nothing else.

Apprise resolves names and connects by itself, in many ways. An audit hook of the interpreter sees each connection with
the very address that it goes to, whichever library makes it, and refuses what the egress guard would. It refuses files
as well, for URLs of Apprise may name some, and programs. A hook can never be taken off again and slows everything down,
which is why this is a process of its own.
"""

import os
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apprise
import msgspec

from clarion.providers.apprise.protocol import AppriseOrder, AppriseOutcome
from clarion.providers.transport.egress import EgressGuard

_FORBIDDEN = ("subprocess.", "os.", "pty.", "ctypes.", "syslog.", "shutil.", "tempfile.", "socket.bind", "webbrowser.")
_HARMLESS = frozenset({"os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.getxattr", "os.listxattr", "os.putenv"})
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CONNECTIONS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
# What the interpreter and its packages read when they are imported, and what every system lets everybody read.
_READABLE = ("/etc/ssl/", "/etc/mime.types", "/etc/localtime", "/usr/share/zoneinfo/", "/dev/null", "/dev/urandom")


class ForbiddenError(PermissionError):
    """Something that a notification has no business with."""


def main() -> None:
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=AppriseOrder)
    sys.stdout.buffer.write(msgspec.json.encode(_carry_out(order)))


def _carry_out(order: AppriseOrder) -> AppriseOutcome:
    asset = apprise.AppriseAsset(
        storage_mode=apprise.PersistentStoreMode.MEMORY,
        allow_templates=False,
        service_timeout=order.seconds,
        http_redirects=False,
    )
    # All plugins are loaded by the first URL, before files are out of reach.
    apprise.Apprise.instantiate("json://localhost", asset=asset)
    refusals = confine(EgressGuard(order.allow))
    service = apprise.Apprise.instantiate(order.url, asset=asset)
    if service is None:
        return AppriseOutcome(result="forbidden" if refusals else "unknown service", words="; ".join(refusals))
    # A URL may ask for redirects of its own.
    service.redirects = False
    caller = apprise.Apprise(asset=asset)
    caller.add(service)
    result = caller.notify(body=order.body, title=order.title, body_format=apprise.NotifyFormat.TEXT)
    name = str(service.service_name)
    if result:
        return AppriseOutcome(result="sent", service=name)
    if refusals:
        return AppriseOutcome(result="forbidden", service=name, words="; ".join(refusals))
    timed_out = result.status is apprise.AppriseResultStatus.TIMEOUT
    return AppriseOutcome(result="timed out" if timed_out else "failed", service=name, words=_words(result))


def confine(guard: EgressGuard) -> list[str]:
    """Let this process do no more than connect to where the guard permits; returns what will have been refused."""
    refusals: list[str] = []
    readable = (*_READABLE, *(f"{path}/" for path in {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values()}))

    def refuse(what: str) -> None:
        refusals.append(what)
        raise ForbiddenError(what)

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _CONNECTIONS:
            _watch_connection(guard, arguments[1], refuse)
        elif event == "open":
            _watch_file(arguments, readable, refuse)
        elif event.startswith(_FORBIDDEN) and event not in _HARMLESS:
            refuse(f"{event} is not for notifications")

    sys.addaudithook(watch)
    return refusals


def _watch_connection(guard: EgressGuard, address: Any, refuse: Callable[[str], None]) -> None:
    # A message on a connection that is there already names no address.
    if address is None:
        return
    host = address[0] if isinstance(address, tuple) and address else ""
    if not isinstance(host, str) or not guard.permits(host):
        refuse("The host is not allowed by CLARION_EGRESS_ALLOW")


def _watch_file(arguments: tuple[Any, ...], readable: tuple[str, ...], refuse: Callable[[str], None]) -> None:
    path, _, flags = arguments
    if isinstance(path, int):
        return
    text = str(Path(path.decode() if isinstance(path, bytes) else path).resolve())
    if flags & _WRITES or not text.startswith(readable):
        refuse("Files are not for notifications")


def _words(result: Any) -> str:
    lines = [str(entry.message) for one in result.results for attempt in one.attempts for entry in attempt.logs]
    return lines[-1] if lines else ""


if __name__ == "__main__":
    main()
