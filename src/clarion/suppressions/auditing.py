"""Suppressions that are added and cleared by API in the audit log."""

from typing import Any

from clarion.audit.model import Action, Target, TargetType
from clarion.audit.recording import record
from clarion.http.operation import Call
from clarion.suppressions.model import Suppression
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


def mask_address(channel: Channel, address: str) -> str:
    """Return what people need to recognize an address, and too little to write to it."""
    if channel is Channel.EMAIL:
        local, _, domain = address.rpartition("@")
        return f"{local[:1]}***@{domain}"
    return f"***{address[-3:]}"


def _describe(suppression: Suppression) -> dict[str, Any]:
    return {"channel": suppression.channel, "reason": suppression.reason}
