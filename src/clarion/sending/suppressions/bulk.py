"""Many suppressions at once: added, removed, and exported in the order in which they were made."""

import base64
import binascii
from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.errors import Invalid, Problem
from clarion.ids import EnvironmentId
from clarion.sending.suppressions import store
from clarion.sending.suppressions.model import (
    SUPPRESSED_CHANNELS,
    Suppression,
    SuppressionReason,
    fold_address,
    is_address,
    list_address_forms,
)
from clarion.vocabulary import Channel

Address = tuple[Channel, str]
"""A channel and an address as the caller spells it."""

DELETE_ADDRESSES = sql("""
    DELETE FROM suppressions WHERE environment_id = :environment_id AND channel = :channel AND address {any:addresses}
    RETURNING address
""")


class SuppressionPosition(Struct, frozen=True, array_like=True):
    """The last suppression of a page."""

    created_at: Annotated[Millis, Meta(ge=-1, lt=2**62)]
    address: Annotated[str, Meta(pattern=r"^[^\0]*$")]
    channel: Annotated[str, Meta(pattern=r"^[a-z]*$")]


START = SuppressionPosition(Millis(-1), "", "")


def check_addresses(given: Sequence[Address]) -> None:
    """Raise Invalid with every entry that is no address of a channel with suppressions."""
    problems: dict[str, list[Problem]] = {}
    for place, (channel, address) in enumerate(given):
        path = f"suppressions.{place}"
        if channel not in SUPPRESSED_CHANNELS:
            problem = Problem(f"must be one of {', '.join(SUPPRESSED_CHANNELS)}", channel)
            problems[f"{path}.channel"] = [problem]
        elif not is_address(channel, fold_address(channel, address)):
            problems[f"{path}.address"] = [Problem(f"is not an address of the channel {channel}", address)]
    if problems:
        raise Invalid(problems)


async def add_suppressions(
    db: Connection, environment_id: EnvironmentId, given: Sequence[tuple[Address, str | None]], now: Millis
) -> list[Suppression]:
    """Suppress the addresses that are not suppressed yet, each with its detail; returns those."""
    existing = await store.list_suppressed(db, environment_id, {address for address, _ in given})
    stopped = {address for address, reason in existing.items() if reason != SuppressionReason.UNSUBSCRIBED}
    made = {
        (channel, folded): Suppression(
            environment_id=environment_id,
            channel=channel,
            address=folded,
            reason=SuppressionReason.MANUAL,
            detail=detail,
            created_at=now,
        )
        for (channel, address), detail in reversed(given)
        if (channel, address) not in stopped and (folded := fold_address(channel, address))
    }
    await store.insert_suppressions(db, made.values())
    return list(made.values())


async def remove_suppressions(db: Connection, environment_id: EnvironmentId, given: Sequence[Address]) -> list[Address]:
    """Clear addresses; returns those that were suppressed, as they were stored."""
    removed: list[Address] = []
    for channel in SUPPRESSED_CHANNELS:
        own = [address for one, address in given if one is channel]
        forms = {form for address in own for form in list_address_forms(environment_id, channel, address)}
        if forms:
            # Sorted, so that two transactions that clear the same addresses cannot deadlock.
            bound = {"environment_id": environment_id, "channel": channel, "addresses": sorted(forms)}
            removed += [(channel, row["address"]) for row in await db.fetch(DELETE_ADDRESSES, **bound)]
    return removed


async def list_page(
    db: Connection, environment_id: EnvironmentId, filters: dict[str, str], *, after: SuppressionPosition, limit: int
) -> tuple[list[Suppression], SuppressionPosition | None]:
    """Return a page, the oldest first, and where the next one begins; None if it is the last."""
    place = after.created_at, after.address, after.channel
    suppressions = await store.list_suppressions_after(db, environment_id, filters, after=place, limit=limit + 1)
    page = suppressions[:limit]
    if len(suppressions) <= limit:
        return page, None
    return page, SuppressionPosition(page[-1].created_at, page[-1].address, page[-1].channel)


def encode_position(position: SuppressionPosition) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(position)).rstrip(b"=").decode()


def parse_position(text: str) -> SuppressionPosition:
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        return msgspec.json.decode(raw, type=SuppressionPosition)
    except (binascii.Error, ValueError, msgspec.DecodeError):
        raise Invalid.field("after", "is not the 'next' of an export", text) from None
