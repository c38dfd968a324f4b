"""Every list at ten thousand messages compared with the same list at a million.

`--messages 10000000` compares with a larger store, which takes twenty minutes to fill.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from urllib.parse import quote

from msgspec import Struct

from bench.client import make_request, send_closed
from bench.figures import Figure, percentile
from bench.filling import SMALL, TOPIC, UNUSED_CHANNEL, Size, ensure_filled, size_of
from bench.systems import Site, System, start_clarion

NAME = "pages"
STORE = "filled"

_ROUNDS = 200
_WARM_UP = 20
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


async def measure(site: Site, kind: str) -> list[Figure]:
    """Request the same pages from both stores of one kind of database in turn."""
    warm_up, rounds = site.scaled(_WARM_UP), site.scaled(_ROUNDS)
    async with open_stores(site, kind) as (small, large):
        # No subscriber is requested twice.
        contents = [
            await _read_content(small, SMALL, warm_up + rounds),
            await _read_content(large, size_of(site), warm_up + rounds),
        ]
        seconds: list[list[list[float]]] = [[], []]
        for number in range(warm_up + rounds):
            for which, system in enumerate((small, large)):
                requests = _requests(system, contents[which], number)
                load = await send_closed(system.address, requests, connections=1)
                load.require(200, 201)
                if number >= warm_up:
                    seconds[which].append(load.seconds)
        return _figures(kind, seconds)


@asynccontextmanager
async def open_stores(site: Site, kind: str) -> AsyncIterator[tuple[System, System]]:
    """Serve a small and a large store."""
    await ensure_filled(kind, site, "small", SMALL)
    await ensure_filled(kind, site, STORE, size_of(site))
    async with start_clarion(kind, site, "small") as small, start_clarion(kind, site, STORE) as large:
        yield small, large


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
        small, large = (percentile([one[page] * 1000 for one in rounds], 0.95) for rounds in seconds)
        figures += [
            Figure(NAME, kind, f"{name}: p95 small", small, "ms"),
            Figure(NAME, kind, f"{name}: p95 large", large, "ms"),
            Figure(NAME, kind, f"{name}: p95 ratio", large / small, "x"),
        ]
    return figures


async def _read_content(system: System, size: Size, people: int) -> Content:
    workflows = await system.request("GET", "/v2/workflows?limit=100")
    page = await system.request("GET", f"/v2/subscribers?limit={size.subscribers // 2 if size == SMALL else 1000}")
    keys = [f"person-{(number + 1) * size.subscribers // (people + 2)}" for number in range(people)]
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
