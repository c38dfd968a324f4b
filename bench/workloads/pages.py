"""Every list at ten thousand messages compared with the same list at ten million.

The large store is filled once, in about twenty minutes, and cached in `bench/.cache`; the small one is created anew.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import asyncpg
from msgspec import Struct

from bench.client import make_request, send_closed
from bench.figures import Figure, percentile
from bench.filling import (
    LARGE,
    SMALL,
    TOPIC,
    UNUSED_CHANNEL,
    Size,
    fill_postgres,
    fill_sqlite,
    filling_hash,
    set_up,
)
from bench.systems import POSTGRES, SQLITE, System, clarion_on_postgres, clarion_on_sqlite, make_database, open_postgres
from clarion.db.migrate import migrate_postgres, migrate_sqlite
from tests.servers import PostgresServer

NAME = "pages"
CACHE = Path(__file__).parents[1] / ".cache"

_ROUNDS = 200
_WARM_UP = 20
_PEOPLE = _WARM_UP + _ROUNDS  # no subscriber is requested twice
_BUSY = "person-0"


class Person(Struct, frozen=True):
    key: str
    name: str
    email: str
    message_id: str
    transaction: str


class Content(Struct, frozen=True):
    """What the requests refer to in a store."""

    size: Size
    people: Sequence[Person]
    template: str
    cursor: str


MakePath = Callable[[Content, Person], str]

_PAGES: Mapping[str, MakePath] = {
    "messages first": lambda *_: "/v1/messages",
    "messages page 50": lambda *_: "/v1/messages?page=50",
    "messages of a person": lambda _, person: f"/v1/messages?subscriberId={person.key}",
    "messages of a busy person": lambda *_: f"/v1/messages?subscriberId={_BUSY}",
    "messages of a channel": lambda *_: "/v1/messages?channel=chat",
    "messages of a channel page 30": lambda *_: "/v1/messages?channel=email&page=30",
    "messages of an unused channel": lambda *_: f"/v1/messages?channel={UNUSED_CHANNEL}",
    "messages of a transaction": lambda _, person: f"/v1/messages?transactionId={person.transaction}",
    "messages of a fan-out": lambda content, _: f"/v1/messages?transactionId={content.size.fan_out_transaction}",
    "events first": lambda *_: "/v1/notifications",
    "events page 50": lambda *_: "/v1/notifications?page=50",
    "events of a channel": lambda *_: "/v1/notifications?channels=in_app",
    "events of an unused channel": lambda *_: f"/v1/notifications?channels={UNUSED_CHANNEL}",
    "events of a person": lambda _, person: f"/v1/notifications?subscriberIds={person.key}",
    "events of a busy person": lambda *_: f"/v1/notifications?subscriberIds={_BUSY}",
    "events of an address": lambda _, person: f"/v1/notifications?emails={quote(person.email)}",
    "events by search": lambda _, person: f"/v1/notifications?search={quote(person.email.upper())}",
    "events of a workflow": lambda content, _: f"/v1/notifications?templates={content.template}",
    "events of a fan-out": lambda content, _: f"/v1/notifications?transactionId={content.size.fan_out_transaction}",
    "feed of a person": lambda _, person: f"/v1/subscribers/{person.key}/notifications/feed",
    "feed of a busy person": lambda *_: f"/v1/subscribers/{_BUSY}/notifications/feed",
    "unread feed of a busy person": lambda *_: f"/v1/subscribers/{_BUSY}/notifications/feed?read=false",
    "unseen of a person": lambda _, person: f"/v1/subscribers/{person.key}/notifications/unseen",
    "unseen of a busy person": lambda *_: f"/v1/subscribers/{_BUSY}/notifications/unseen",
    "subscribers first": lambda *_: "/v2/subscribers",
    "subscribers later": lambda content, _: f"/v2/subscribers?after={quote(content.cursor)}",
    "subscribers by key": lambda _, person: f"/v2/subscribers?subscriberId={person.key}",
    "subscribers by email": lambda _, person: f"/v2/subscribers?email={quote(person.email)}",
    "subscribers by name": lambda _, person: f"/v2/subscribers?name={quote(person.name)}",
    "subscribers by first name": lambda _, person: f"/v2/subscribers?name={quote(person.name.split()[0])}",
    "subscribers by no name": lambda *_: "/v2/subscribers?name=Zzyzx",
    "members of a topic": lambda *_: f"/v2/topics/{TOPIC}/subscriptions",
    "topics of a person": lambda _, person: f"/v2/subscribers/{person.key}/subscriptions",
}
_MARK = "mark as read"


async def measure(kind: str, folder: Path) -> list[Figure]:
    """Request the same pages from both stores of one kind of database in turn; `folder` is for the small store."""
    async with open_stores(kind, folder) as (small, large):
        contents = [await _read_content(small, SMALL), await _read_content(large, LARGE)]
        seconds: list[list[list[float]]] = [[], []]
        for number in range(_WARM_UP + _ROUNDS):
            for which, system in enumerate((small, large)):
                requests = _requests(system, contents[which], number)
                load = await send_closed(system.address, requests, connections=1)
                load.require(200, 201)
                if number >= _WARM_UP:
                    seconds[which].append(load.seconds)
        return _figures(kind, seconds)


def open_stores(kind: str, folder: Path) -> AbstractAsyncContextManager[tuple[System, System]]:
    """Serve the small and the large store of one kind of database."""
    return _on_sqlite(folder) if kind == SQLITE else _on_postgres(folder)


def _requests(system: System, content: Content, number: int) -> list[bytes]:
    person = content.people[number % len(content.people)]
    mark = {"messageId": person.message_id, "markAs": "read" if number % 2 else "unread"}
    return [
        *(make_request("GET", path(content, person), key=system.key) for path in _PAGES.values()),
        make_request("POST", f"/v1/subscribers/{person.key}/messages/mark-as", key=system.key, body=mark),
    ]


def _figures(kind: str, seconds: Sequence[Sequence[Sequence[float]]]) -> list[Figure]:
    figures = []
    for page, name in enumerate([*_PAGES, _MARK]):
        small, large = ([one[page] * 1000 for one in rounds] for rounds in seconds)
        for share in (0.5, 0.95):
            values = percentile(small, share), percentile(large, share)
            mark = f"p{round(share * 100)}"
            figures += [
                Figure(NAME, kind, f"{name}: {mark} small", values[0], "ms"),
                Figure(NAME, kind, f"{name}: {mark} large", values[1], "ms"),
                Figure(NAME, kind, f"{name}: {mark} ratio", values[1] / values[0], "x"),
            ]
    return figures


async def _read_content(system: System, size: Size) -> Content:
    workflows = await system.request("GET", "/v2/workflows?limit=100")
    page = await system.request("GET", f"/v2/subscribers?limit={size.subscribers // 2 if size is SMALL else 1000}")
    keys = [f"person-{(number + 1) * size.subscribers // (_PEOPLE + 2)}" for number in range(_PEOPLE)]
    return Content(
        size=size,
        people=[await _read_person(system, key) for key in keys],
        template=next(one["_id"] for one in workflows["workflows"] if one["workflowId"] == "receipts"),
        cursor=page["next"],
    )


async def _read_person(system: System, key: str) -> Person:
    found = await system.request("GET", f"/v2/subscribers/{key}")
    messages = await system.request("GET", f"/v1/messages?subscriberId={key}")
    return Person(
        key=key,
        name=f"{found['firstName']} {found['lastName']}",
        email=found["email"],
        message_id=messages["data"][0]["_id"],
        transaction=messages["data"][-1]["transactionId"],
    )


@asynccontextmanager
async def _on_sqlite(folder: Path) -> AsyncIterator[tuple[System, System]]:
    cached = _cached_folder(SQLITE)
    if not cached.exists():
        await _make_sqlite(cached.with_suffix(".partial"), LARGE)
        cached.with_suffix(".partial").rename(cached)
    await asyncio.to_thread(migrate_sqlite, cached / "clarion.db")
    await _make_sqlite(folder / "small", SMALL)
    async with clarion_on_sqlite(folder / "small") as small, clarion_on_sqlite(cached) as large:
        yield small, large


async def _make_sqlite(folder: Path, size: Size) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    async with clarion_on_sqlite(folder) as system:
        await set_up(system)
    await fill_sqlite(folder / "clarion.db", size)


@asynccontextmanager
async def _on_postgres(folder: Path) -> AsyncIterator[tuple[System, System]]:
    """Both stores are databases of one server, so that its settings are the same."""
    cached = _cached_folder(POSTGRES)
    if not cached.exists():
        partial = cached.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        with open_postgres(partial, keep=True) as server:
            await _make_database(server, folder, "large", LARGE)
        partial.rename(cached)
    with open_postgres(cached, keep=True) as server:
        await migrate_postgres(await make_database(server, "large"))
        await _drop_database(server, "small")
        await _make_database(server, folder, "small", SMALL)
        async with (
            clarion_on_postgres(folder / "small", server, database="small") as small,
            clarion_on_postgres(folder / "large", server, database="large") as large,
        ):
            yield small, large


async def _make_database(server: PostgresServer, folder: Path, name: str, size: Size) -> None:
    async with clarion_on_postgres(folder / name, server, database=name) as system:
        await set_up(system)
    await fill_postgres(await make_database(server, name), size)


async def _drop_database(server: PostgresServer, name: str) -> None:
    connection = await asyncpg.connect(server.url)
    try:
        await connection.execute(f"DROP DATABASE IF EXISTS {name}")
    finally:
        await connection.close()


def _cached_folder(kind: str) -> Path:
    """Return the folder of the large store, and delete stores that another version of `bench/filling.py` made."""
    CACHE.mkdir(exist_ok=True)
    wanted = CACHE / f"{kind}-{filling_hash()}"
    for found in CACHE.glob(f"{kind}-*"):
        if found != wanted:
            shutil.rmtree(found)
    return wanted
