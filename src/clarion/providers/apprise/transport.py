"""Calls to `apprise:`, which a confined process makes; answered as if they went over HTTP."""

import asyncio
import re
import sys
from importlib.util import find_spec
from typing import Any

import msgspec

from clarion.clock import Clock
from clarion.providers.apprise.protocol import AppriseOrder, AppriseOutcome
from clarion.providers.definition.answer import ProviderAnswer
from clarion.providers.definition.request import ProviderCall
from clarion.providers.definition.result import FailureKind, SendFailure, ambiguous
from clarion.providers.transport.egress import EgressGuard

ADDRESS = "apprise:"
# Each takes about 0.4 seconds of one core, and 55 MB while it runs.
_AT_A_TIME = 4
_STATUSES = {"sent": 200, "unknown service": 400, "forbidden": 403, "failed": 502}
_SENTENCES = {
    "unknown service": "Apprise knows no service of this URL",
    "forbidden": "It was refused",
    "timed out": "The service did not answer in time",
    "failed": "The service did not take it",
}
_SHORTEST_SECRET = 5


def is_installed() -> bool:
    return find_spec("apprise") is not None


class AppriseTransport:
    """Hands notifications to the services of their device tokens, a few at a time."""

    def __init__(self, egress: EgressGuard, *, seconds: float, clock: Clock) -> None:
        self._egress = egress
        self._seconds = seconds
        self._clock = clock
        self._turns = asyncio.Semaphore(_AT_A_TIME)

    async def call(self, call: ProviderCall) -> ProviderAnswer:
        if not is_installed():
            message = "Apprise is not installed here: install clarion[apprise], or set another webhookUrl"
            raise SendFailure(FailureKind.PERMANENT, message)
        body = msgspec.json.decode(call.content)
        order = AppriseOrder(
            url=str(next(iter(body.get("target", ())), "")),
            title=str(body.get("title", "")),
            body=str(body.get("content", "")),
            seconds=self._seconds,
            allow=list(self._egress.allow),
        )
        async with self._turns:
            outcome = await _carry_out(order)
        if outcome.result == "timed out":
            raise ambiguous(SendFailure(FailureKind.RETRYABLE, _SENTENCES[outcome.result]))
        return ProviderAnswer(
            status=_STATUSES[outcome.result],
            text=msgspec.json.encode(_shown(outcome, order.url)).decode(),
            headers={},
            retry_after=None,
            received_at=self._clock.now(),
        )


async def _carry_out(order: AppriseOrder) -> AppriseOutcome:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-B", "-m", "clarion.providers.apprise.sandbox"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        # Neither our settings, with keys among them, nor anybody's proxies.
        env={},
    )
    try:
        async with asyncio.timeout(order.seconds * 2):
            output, _ = await process.communicate(msgspec.json.encode(order))
        return msgspec.json.decode(output, type=AppriseOutcome)
    except TimeoutError as error:
        message = f"Apprise did not come back within {order.seconds * 2:g} seconds"
        raise ambiguous(SendFailure(FailureKind.RETRYABLE, message)) from error
    except msgspec.DecodeError as error:
        raise ambiguous(SendFailure(FailureKind.RETRYABLE, "Apprise ended without a word")) from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def _shown(outcome: AppriseOutcome, url: str) -> dict[str, Any]:
    words = outcome.words
    # Which part of a URL is the password depends on the service, so none of them is kept.
    for part in sorted(re.split(r"[/:?&=@#,]", url), key=len, reverse=True):
        if len(part) >= _SHORTEST_SECRET:
            words = words.replace(part, "***")
    if outcome.result == "sent":
        return {"service": outcome.service}
    sentence = _SENTENCES[outcome.result]
    return {"service": outcome.service, "message": f"{sentence}: {words}" if words else sentence}
