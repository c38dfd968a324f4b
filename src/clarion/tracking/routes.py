"""The links and images of tracked e-mails, and the proof that a host leads to this installation."""

from typing import Final

from clarion.content.known_secrets import MAX_TOKEN, LinkSecrets
from clarion.content.links import LinkSecret
from clarion.http.operation import DetachedCall, Transaction, operation
from clarion.http.responses import ImageResponse, PageResponse, RawResponse
from clarion.providers.definition.receipts import ReceiptKind
from clarion.tracking.domains import PROOF_PATH, make_proof
from clarion.tracking.links import CLICK_PATH, OPEN_PATH, SentLink, read_click, read_open
from clarion.tracking.model import find_machine, refuses_records
from clarion.tracking.recorder import TrackedVisit, TrackingRecorder

SECTION = "Tracking"
_LED: Final = (302, 404)
_GIF: Final = bytes.fromhex("47494638396101000100800000000000ffffff21f90401000000002c000000000100010000020144003b")
_IMAGE: Final = ImageResponse(200, b"image/gif", _GIF)
_HEADERS: Final = [(b"cache-control", b"no-store"), (b"x-robots-tag", b"noindex, nofollow")]
_PAGE: Final = b"""<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Link not valid</title>
<h1>This link is not valid</h1><p>It may have been cut when it was copied. Open it in the message again.</p></html>
"""
_NOT_FOUND: Final = PageResponse(404, b"text/html; charset=utf-8", _PAGE)


@operation("GET", CLICK_PATH + "{linkToken}", public=True, status=_LED, transaction=Transaction.NONE, foreign=True)
async def follow_link(call: DetachedCall, token: str) -> PageResponse:
    """Lead to the target of a link in a tracked e-mail, and note the click.

    Only targets that this installation has signed are led to.
    """
    return await _follow(call, token)


@operation("HEAD", CLICK_PATH + "{linkToken}", public=True, status=_LED, transaction=Transaction.NONE, foreign=True)
async def probe_link(call: DetachedCall, token: str) -> PageResponse:
    """Answer a program that asks where a link leads; it counts as no click."""
    return await _follow(call, token)


@operation("GET", OPEN_PATH + "{linkToken}", public=True, transaction=Transaction.NONE, foreign=True)
async def load_image(call: DetachedCall, token: str) -> ImageResponse:
    """Send a transparent image, and note that an e-mail was opened."""
    return await _open(call, token)


@operation("HEAD", OPEN_PATH + "{linkToken}", public=True, transaction=Transaction.NONE, foreign=True)
async def probe_image(call: DetachedCall, token: str) -> ImageResponse:
    """Answer a program that asks about an image; it counts as no open."""
    return await _open(call, token)


@operation("GET", PROOF_PATH + "{challenge}", public=True, transaction=Transaction.NONE, foreign=True)
async def prove_host(call: DetachedCall, challenge: str) -> RawResponse:
    """Prove that a host leads to this installation."""
    call.response_headers.extend(_HEADERS)
    return RawResponse(200, b"text/plain", make_proof(call.services.vault, challenge[:MAX_TOKEN]).encode())


async def _follow(call: DetachedCall, token: str) -> PageResponse:
    call.response_headers.extend(_HEADERS)
    secrets = call.services.shared.get(LinkSecrets)
    secret = await secrets.find(token, call.request.address, call.now)
    link = None if secret is None else read_click(secret, token)
    if secret is None or link is None:
        secrets.note_failure(call.request.address, call.now)
        return _NOT_FOUND
    _note(call, secret, link, ReceiptKind.CLICKED)
    call.response_headers.append((b"location", link.target.encode()))
    return PageResponse(302, _NOT_FOUND.content_type, b"")


async def _open(call: DetachedCall, token: str) -> ImageResponse:
    call.response_headers.extend(_HEADERS)
    secrets = call.services.shared.get(LinkSecrets)
    secret = await secrets.find(token, call.request.address, call.now)
    link = None if secret is None else read_open(secret, token)
    if secret is None or link is None:
        secrets.note_failure(call.request.address, call.now)
    else:
        _note(call, secret, link, ReceiptKind.OPENED)
    return _IMAGE


def _note(call: DetachedCall, secret: LinkSecret, link: SentLink, kind: ReceiptKind) -> None:
    request, now = call.request, call.now
    if refuses_records(request.headers):
        return
    visit = TrackedVisit(
        environment_id=secret.environment_id,
        message_id=link.message_id,
        kind=kind,
        at=now,
        target=link.target,
        position=link.position,
        agent=request.headers.get(b"user-agent", b"").decode("latin-1"),
        machine=find_machine(request.method, request.headers, age=now - link.made_at),
    )
    call.services.shared.get(TrackingRecorder).add(visit)
