"""Golden requests: the exact requests to each provider, in files that were reviewed.

`python -m tests.providers.contract.golden sendgrid twilio` writes those of the named providers, or of all.
Review the difference against the provider's documentation before you commit it.
"""

import asyncio
import base64
import json
import re
import sys
from collections.abc import Callable
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from clarion.clock import ManualClock
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.sending.gateway import ProviderGateway, Timeouts
from clarion.providers.transport.egress import EgressGuard
from clarion.vocabulary import Channel
from tests.providers.contract.case import CONTENTS, MESSAGE_ID, NOW, Case
from tests.providers.contract.smtp_cases import SMTP_CASES, SmtpCase, play_mail
from tests.providers.contract.table import CASES
from tests.providers.contract.vendor import Received, Vendor, play

FOLDER = Path(__file__).parents[1] / "golden"
_CONNECTION_HEADERS = frozenset(
    {"host", "content-length", "user-agent", "accept", "accept-encoding", "connection", "transfer-encoding"}
)


def make_gateway(vendor: Vendor, *, seconds: float = 5) -> ProviderGateway:
    """Return a gateway that sends all calls to the vendor."""
    return ProviderGateway(
        EgressGuard(["127.0.0.0/8"]),
        timeouts=Timeouts(http_seconds=seconds),
        clock=ManualClock(NOW),
        rewrite_url=vendor.rewrite_url,
    )


async def record(case: Case) -> str:
    """Return the requests of one message as the text of a golden file."""
    async with play(case.answers(case.success)) as vendor, make_gateway(vendor) as gateway:
        await gateway.send(case.id, case.make_outgoing())
    text = json.dumps([show(one, opens=case.opens) for one in vendor.requests], indent=2, ensure_ascii=False) + "\n"
    for pattern, mask in case.masks.items():
        text = re.sub(pattern, mask, text)
    return text


async def record_email(case: SmtpCase, certificate: Path | None = None) -> str:
    """Return what an SMTP server receives for one message, as the text of a golden file."""
    async with play_mail(case, certificate) as (server, gateway):
        await gateway.send(case.id, make_email_message(case))
    (envelope,) = server.envelopes
    document = {
        "login": server.logins,
        "from": envelope.mail_from,
        "to": envelope.rcpt_tos,
        "content": (envelope.original_content or b"").decode("ascii").split("\r\n"),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def make_email_message(case: SmtpCase) -> Outgoing:
    contents = dict(CONTENTS[Channel.EMAIL])
    return Outgoing(message_id=MESSAGE_ID, channel=Channel.EMAIL, credentials=dict(case.credentials), **contents)


def show(request: Received, *, opens: str = "") -> dict[str, Any]:
    headers = {name: value for name, value in sorted(request.headers.items()) if name not in _CONNECTION_HEADERS}
    return {"method": request.method, "url": request.url, "headers": headers, "body": _body(request, opens)}


def _body(request: Received, opens: str) -> Any:
    kind = request.headers.get("content-type", "")
    if not request.body:
        return None
    if kind.startswith("application/json"):
        return _decode_member(json.loads(request.body), opens)
    if kind.startswith("application/x-www-form-urlencoded"):
        return [list(pair) for pair in parse_qsl(request.body.decode(), keep_blank_values=True, strict_parsing=True)]
    if kind.startswith("multipart/form-data"):
        return _parts(kind, request.body)
    return request.body.decode()


def _decode_member(document: Any, path: str) -> Any:
    if path:
        *names, last = path.split(".")
        holder = document
        for name in names:
            holder = holder[name]
        holder[last] = base64.b64decode(holder[last]).decode().split("\r\n")
    return document


def _parts(kind: str, body: bytes) -> list[Any]:
    message = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + body)
    return [_part(part) for part in message.walk() if not part.is_multipart()]


def _part(part: "Message[str, str]") -> dict[str, Any]:
    content = part.get_payload(decode=True)
    assert isinstance(content, bytes)
    named = {"disposition": part["Content-Disposition"], "type": part["Content-Type"]}
    headers = {name: value for name, value in named.items() if value}
    return headers | {"content": content.decode("utf-8", errors="backslashreplace")}


async def _write(wanted: Callable[[str], bool]) -> None:
    for case in filter(lambda one: wanted(one.id), CASES):
        (FOLDER / f"{case.id}.json").write_text(await record(case))
    for smtp_case in filter(lambda one: wanted(one.id) and not one.certificate_for, SMTP_CASES):
        (FOLDER / f"{smtp_case.id}.json").write_text(await record_email(smtp_case))


if __name__ == "__main__":
    named = sys.argv[1:]
    asyncio.run(_write(lambda provider_id: not named or provider_id in named))
