"""What the content of a mail costs: the same mail plain, as blocks in a layout, with a repeat, and translated.

All kinds are measured in turns in each round, so that their ratios do not depend on the load of the machine.
"""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from bench.client import make_request, send_closed
from bench.content import ensure_topic, ensure_workflow
from bench.figures import Figure
from bench.processes import cpu_between, cpu_seconds
from bench.receivers import Ports, read_counts, run_receivers
from bench.systems import Site, System, start_clarion
from bench.workloads.external import integrate, send_all, wait_for_arrivals
from tests.servers import free_port

NAME = "mails"
LANGUAGES = ("en_US", "de_DE", "fr_FR", "es_ES", "it_IT", "pl_PL", "nl_NL", "pt_BR")

_ROUNDS = 5
_PEOPLE = 600
_BULK = 100
_DELAY_MS = 5
_SETTLE_SECONDS = 0.3
_LAYOUT = "bench-layout"
_ONE_LANGUAGE, _ALL_LANGUAGES = "bench-one-language", "bench-all-languages"
_ITEMS = [{"name": "Tea", "price": 4}, {"name": "Milk", "price": 2}, {"name": "Bread", "price": 3}]
_TEXTS = {
    "greeting": "Hello {{subscriber.firstName}}",
    "sent": "Your order {{payload.number}} is on its way",
    "address": "We send it to the address that you gave us.",
    "parcels": {"one": "{{count}} parcel", "few": "{{count}} parcels", "other": "{{count}} parcels"},
    "follow": "Follow your order",
    "thanks": "Thank you",
}


class Kind(Struct, frozen=True, kw_only=True):
    """One way to write the mail."""

    controls: Mapping[str, Any]
    is_translated: bool = False
    topic: str = _ONE_LANGUAGE


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _variable(name: str, fallback: str = "") -> dict[str, Any]:
    return {"type": "variable", "attrs": {"id": name} | ({"fallback": fallback} if fallback else {})}


def _block(kind: str, *content: dict[str, Any], **attributes: Any) -> dict[str, Any]:
    return {"type": kind, "attrs": attributes, "content": list(content)}


def _document(*blocks: dict[str, Any]) -> str:
    return json.dumps({"type": "doc", "content": list(blocks)})


_SUBJECT = "Order {{payload.number}}"
_LINK = "https://shop.example.com/orders/{{payload.number}}"
_PLAIN = (
    "<h1>Hello {{subscriber.firstName}}</h1><p>Your order <b>{{payload.number}}</b> is on its way.</p>"
    "<p>We send it to the address that you gave us.</p>"
    f'<p><a href="{_LINK}">Follow your order</a></p><p>Thank you</p>'
)
_BLOCKS = (
    _block("heading", _text("Hello "), _variable("subscriber.firstName", "there"), level=1),
    _block("paragraph", _text("Your order "), _variable("payload.number"), _text(" is on its way.")),
    _block("paragraph", _text("We send it to the address that you gave us.")),
    _block("button", text="Follow your order", url=_LINK),
    _block("paragraph", _text("Thank you")),
)
_REPEAT = _block(
    "repeat", _block("paragraph", _variable("payload.items.name"), _text(": "), _variable("payload.items.price")),
    each="payload.items",
)  # fmt: skip
_TRANSLATED = (
    _block("heading", _text("{{t.greeting}}"), level=1),
    _block("paragraph", _text("{{t.sent}}: {{ payload.items.size | plural: 't.parcels' }}")),
    _block("paragraph", _text("{{t.address}}")),
    _block("button", text="{{t.follow}}", url=_LINK),
    _block("paragraph", _text("{{t.thanks}}")),
)
_FRAME = _document(
    _block("logo", src="https://shop.example.com/logo.png", alt="Shop"),
    _block("paragraph", _variable("content")),
    _block("horizontalRule"),
    _block("footer", _text("Shop Ltd, 1 Street, London")),
)


def _blocks(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"subject": _SUBJECT, "body": _document(*blocks), "editorType": "block", "layoutId": _LAYOUT}


KINDS = {
    "plain": Kind(controls={"subject": _SUBJECT, "body": _PLAIN, "editorType": "html", "layoutId": None}),
    "blocks": Kind(controls=_blocks(*_BLOCKS)),
    "repeat": Kind(controls=_blocks(*_BLOCKS, _REPEAT)),
    "translated": Kind(controls=_blocks(*_TRANSLATED), is_translated=True),
    "languages": Kind(controls=_blocks(*_TRANSLATED), is_translated=True, topic=_ALL_LANGUAGES),
}


def figure_name(kind: str) -> str:
    return f"{kind}_cpu_ms"


async def measure(site: Site, system_kind: str) -> list[Figure]:
    ports = Ports(mail=free_port(), web=free_port())
    async with start_clarion(system_kind, site, NAME) as system, run_receivers(ports, delay_ms=_DELAY_MS):
        await _prepare(system, ports)
        figures: list[Figure] = []
        for number in range(_ROUNDS + 1):
            # In another order each time: what one leaves behind does not always meet the same next one.
            kinds = list(KINDS) if number % 2 else list(reversed(KINDS))
            used = {kind: await _measure(system, ports, kind) for kind in kinds}
            if number:  # The first round fills caches.
                figures += [Figure(NAME, system.kind, figure_name(kind), used[kind], "ms") for kind in KINDS]
        return figures


async def _prepare(system: System, ports: Ports) -> None:
    await integrate(
        system, "nodemailer", "email", {"host": "127.0.0.1", "port": str(ports.mail), "from": "bench@example.com"}
    )
    await system.request("POST", "/v2/layouts", {"name": _LAYOUT, "layoutId": _LAYOUT})
    body = {"name": _LAYOUT, "controlValues": {"email": {"body": _FRAME, "editorType": "block"}}}
    await system.request("PUT", f"/v2/layouts/{_LAYOUT}", body)
    for name, kind in KINDS.items():
        await _make_workflow(system, name, kind)
    await _make_people(system, _ONE_LANGUAGE, LANGUAGES[:1])
    await _make_people(system, _ALL_LANGUAGES, LANGUAGES)


async def _make_workflow(system: System, name: str, kind: Kind) -> None:
    key = f"{NAME}-{name}"
    await ensure_workflow(system, key, [{"name": "Mail", "type": "email", "controlValues": dict(kind.controls)}])
    if kind.is_translated:
        await system.request("PATCH", f"/v2/workflows/{key}", {"isTranslationEnabled": True})
        for locale in LANGUAGES:
            body = {"resourceType": "workflow", "resourceId": key, "locale": locale, "content": _TEXTS}
            await system.request("POST", "/v2/translations", body)


async def _make_people(system: System, topic: str, locales: Sequence[str]) -> None:
    keys = [f"{topic}-{number}" for number in range(system.scaled(_PEOPLE))]
    people = [
        {
            "subscriberId": key,
            "firstName": "Ada",
            "email": f"{key}@example.com",
            "locale": locales[number % len(locales)],
        }
        for number, key in enumerate(keys)
    ]
    groups = [people[start : start + _BULK] for start in range(0, len(people), _BULK)]
    await send_all(system, "POST", [("/v1/subscribers/bulk", {"subscribers": group}) for group in groups])
    await ensure_topic(system, topic, keys)


async def _measure(system: System, ports: Ports, name: str) -> float:
    """Send one mail to each person; return the CPU time of a mail in milliseconds."""
    event = {
        "name": f"{NAME}-{name}",
        "to": {"type": "Topic", "topicKey": KINDS[name].topic},
        "payload": {"number": str(time.time_ns()), "items": _ITEMS},
    }
    request = make_request("POST", "/v1/events/trigger", key=system.key, body=event)
    count = system.scaled(_PEOPLE)
    due = (await read_counts(ports))["mails"] + count
    before = cpu_seconds(system.groups)
    load = await send_closed(system.address, [request])
    load.require(201)
    _, counts = await wait_for_arrivals(ports, {"mails": due})
    await asyncio.sleep(_SETTLE_SECONDS)
    used = sum(cpu_between(before, cpu_seconds(system.groups)).values())
    if counts["mails"] != due:
        raise RuntimeError(f"{due - counts['mails']} of {count} mails are missing")
    return used * 1000 / count
