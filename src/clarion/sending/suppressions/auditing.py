"""Suppressions that are added and cleared by API in the audit log."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from clarion.audit.model import Action, Target, TargetType
from clarion.audit.recording import record
from clarion.http.operation import Call
from clarion.sending.suppressions.model import Suppression
from clarion.vocabulary import Channel


async def record_suppression(
    call: Call, action: Action, *, before: Suppression | None = None, after: Suppression | None = None
) -> None:
    """Record a change of a suppression, unless nothing differs; of the address, the log has only a part."""
    found = after or before
    if found is None:
        raise TypeError("A change has a suppression before or after it")
    await record(
        call,
        action,
        Target(type=TargetType.SUPPRESSION, id=f"{found.channel}:{mask_address(found.channel, found.address)}"),
        before=None if before is None else _describe(before),
        after=None if after is None else _describe(after),
    )


async def record_bulk(call: Call, action: Action, addresses: Sequence[tuple[Channel, str]]) -> None:
    """Record a change of many suppressions in one entry, which has how many there are of each channel."""
    if not addresses:
        return
    counts = dict(Counter(str(channel) for channel, _ in addresses))
    is_new = action is Action.SUPPRESSION_CREATE
    await record(
        call,
        action,
        Target(type=TargetType.SUPPRESSION, id="bulk"),
        before=None if is_new else counts,
        after=counts if is_new else None,
    )


def mask_address(channel: Channel, address: str) -> str:
    """Return what people need to recognize an address, and too little to write to it."""
    if channel is Channel.EMAIL:
        local, _, domain = address.rpartition("@")
        return f"{local[:1]}***@{domain}"
    return f"***{address[-3:]}"


def _describe(suppression: Suppression) -> dict[str, Any]:
    return {"channel": suppression.channel, "reason": suppression.reason}
