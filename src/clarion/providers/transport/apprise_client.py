"""Calls to `apprise:`, which a sandbox process makes; their answers look like HTTP answers.

They are for services that Apprise can send to, in installations of `clarion[apprise]`.
"""

import asyncio
import re
import sys
from importlib.util import find_spec
from typing import Any, Literal

import msgspec
from msgspec import Struct

from clarion.clock import Clock
from clarion.providers.definition.request import ProviderCall
from clarion.providers.definition.result import FailureKind, ProviderAnswer, SendFailure, mark_ambiguous
from clarion.providers.transport.egress import EgressGuard

APPRISE_URL = "apprise:"
# A process takes about 0.4 seconds of one core, and 55 MB while it runs.
_MAX_PROCESSES = 4
_STATUSES = {"sent": 200, "unknown service": 400, "forbidden": 403, "failed": 502}
_SENTENCES = {
    "unknown service": "Apprise knows no service of this URL",
    "forbidden": "It was refused",
    "timed out": "The service did not answer in time",
    "failed": "The service did not take it",
}
_MIN_SECRET_LENGTH = 5


class AppriseRequest(Struct, frozen=True, kw_only=True):
    """One notification for one service."""

    url: str
    title: str
    body: str
    seconds: float
    allow: list[str]
    """Non-public networks that the operator allowed."""


class AppriseResult(Struct, frozen=True, kw_only=True):
    """The result of a notification; `details` may contain the URL."""

    status: Literal["sent", "unknown service", "forbidden", "timed out", "failed"]
    service: str = ""
    details: str = ""


def is_installed() -> bool:
    return find_spec("apprise") is not None


class AppriseClient:
    """Sends notifications to the services that device tokens name, a few at a time."""

    def __init__(self, egress: EgressGuard, *, seconds: float, clock: Clock) -> None:
        self._egress = egress
        self._seconds = seconds
        self._clock = clock
        self._slots = asyncio.Semaphore(_MAX_PROCESSES)

    async def call(self, call: ProviderCall) -> ProviderAnswer:
        if not is_installed():
            message = "Apprise is not installed here: install clarion[apprise], or set another webhookUrl"
            raise SendFailure(FailureKind.PERMANENT, message)
        body = msgspec.json.decode(call.content)
        request = AppriseRequest(
            url=str(next(iter(body.get("target", ())), "")),
            title=str(body.get("title", "")),
            body=str(body.get("content", "")),
            seconds=self._seconds,
            allow=list(self._egress.allow),
        )
        async with self._slots:
            result = await _run_sandbox(request)
        if result.status == "timed out":
            raise mark_ambiguous(SendFailure(FailureKind.RETRYABLE, _SENTENCES[result.status]))
        return ProviderAnswer(
            status=_STATUSES[result.status],
            text=msgspec.json.encode(_answer_body(result, request.url)).decode(),
            headers={},
            retry_after=None,
            received_at=self._clock.now(),
        )


async def _run_sandbox(request: AppriseRequest) -> AppriseResult:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-B", "-m", "clarion.providers.transport.apprise_sandbox"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        # Without our settings, which include keys, and without proxy variables.
        env={},
    )
    try:
        async with asyncio.timeout(request.seconds * 2):
            output, _ = await process.communicate(msgspec.json.encode(request))
        return msgspec.json.decode(output, type=AppriseResult)
    except TimeoutError as error:
        message = f"Apprise did not come back within {request.seconds * 2:g} seconds"
        raise mark_ambiguous(SendFailure(FailureKind.RETRYABLE, message)) from error
    except msgspec.DecodeError as error:
        raise mark_ambiguous(SendFailure(FailureKind.RETRYABLE, "Apprise ended without a word")) from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def _answer_body(result: AppriseResult, url: str) -> dict[str, Any]:
    details = result.details
    # Which part of a URL is secret depends on the service, so all of them are removed.
    for part in sorted(re.split(r"[/:?&=@#,]", url), key=len, reverse=True):
        if len(part) >= _MIN_SECRET_LENGTH:
            details = details.replace(part, "***")
    if result.status == "sent":
        return {"service": result.service}
    sentence = _SENTENCES[result.status]
    return {"service": result.service, "message": f"{sentence}: {details}" if details else sentence}
