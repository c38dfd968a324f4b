"""SQL of suppressed addresses."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import Insert, Query, sql
from clarion.ids import EnvironmentId
from clarion.sending.suppressions.model import SUPPRESSED_CHANNELS, Suppression, SuppressionReason, list_address_forms
from clarion.vocabulary import Channel

_COLUMNS = "environment_id, channel, address, reason, provider_id, message_id, detail, created_at"

LIST_SUPPRESSED = sql("""
    SELECT channel, address, reason FROM suppressions
    WHERE environment_id = :environment_id AND channel {any:channels} AND address {any:addresses}
""")
# An existing suppression keeps its first reason, which is the one that people look for. Only a reason that stops
# everything replaces an unsubscription, which does not stop critical workflows.
INSERT_SUPPRESSIONS = Insert(
    "suppressions",
    *_COLUMNS.split(", "),
    on_conflict="""
        ON CONFLICT (environment_id, channel, address) DO UPDATE
        SET reason = excluded.reason, provider_id = excluded.provider_id, message_id = excluded.message_id,
            detail = excluded.detail, created_at = excluded.created_at
        WHERE suppressions.reason = 'unsubscribed' AND excluded.reason <> 'unsubscribed'
    """,
)
_FIND_SUPPRESSION = f"""
    SELECT {_COLUMNS} FROM suppressions
    WHERE environment_id = :environment_id AND channel = :channel AND address {{any:addresses}}
    ORDER BY CASE WHEN address = :address THEN 0 ELSE 1 END LIMIT 1
"""
FIND_SUPPRESSION, LOCK_SUPPRESSION = sql(_FIND_SUPPRESSION), sql(_FIND_SUPPRESSION + " {for_update}")
DELETE_SUPPRESSION = sql("""
    DELETE FROM suppressions WHERE environment_id = :environment_id AND channel = :channel AND address {any:addresses}
""")
DELETE_UNSUBSCRIPTION = sql("""
    DELETE FROM suppressions
    WHERE environment_id = :environment_id AND channel = :channel AND address {any:addresses}
    AND reason = 'unsubscribed'
""")
TAKE_SUPPRESSION = sql(f"""
    DELETE FROM suppressions WHERE environment_id = :environment_id AND channel = :channel AND address = :address
    RETURNING {_COLUMNS}
""")


async def list_suppressed(
    db: Connection, environment_id: EnvironmentId, addresses: Collection[tuple[Channel, str]]
) -> dict[tuple[Channel, str], str]:
    """Return the suppressed ones of the given addresses, as spelled by the caller, with the reason."""
    forms = {given: list_address_forms(environment_id, *given) for given in addresses}
    if not forms:
        return {}
    rows = await db.fetch(
        LIST_SUPPRESSED,
        environment_id=environment_id,
        channels=sorted({channel for channel, _ in forms}),
        addresses=sorted({form for own in forms.values() for form in own}),
    )
    reasons = {(str(row["channel"]), str(row["address"])): str(row["reason"]) for row in rows}
    by_address = {
        given: [reasons[given[0], form] for form in own if (given[0], form) in reasons] for given, own in forms.items()
    }
    # A reason that stops everything is the stronger one.
    return {given: min(own, key=_is_unsubscription) for given, own in by_address.items() if own}


async def hide_addresses(
    db: Connection, environment_id: EnvironmentId, addresses: Collection[tuple[Channel, str]]
) -> None:
    """Keep only a hash of suppressed addresses: nothing is sent to them if they are ever given again."""
    for channel, text in addresses:
        if channel not in SUPPRESSED_CHANNELS:
            continue
        folded, hashed = list_address_forms(environment_id, channel, text)
        where = {"environment_id": environment_id, "channel": channel, "address": folded}
        row = await db.fetch_one(TAKE_SUPPRESSION, **where)
        if row is not None:
            kept = _suppression(row)
            hidden = replace(kept, address=hashed, message_id=None, detail=None)
            await insert_suppressions(db, [hidden])


async def insert_suppressions(db: Connection, suppressions: Iterable[Suppression]) -> None:
    """Insert the suppressions that do not exist yet; a reason that stops everything replaces an unsubscription."""
    once: dict[tuple[EnvironmentId, Channel, str], Suppression] = {}
    for one in sorted(suppressions, key=lambda one: one.reason is SuppressionReason.UNSUBSCRIBED):
        once.setdefault((one.environment_id, one.channel, one.address), one)
    # Sorted, so that two transactions that insert the same addresses cannot deadlock.
    rows = [_stored(once[key]) for key in sorted(once)]
    if rows:
        await db.insert_many(INSERT_SUPPRESSIONS, rows)


async def find_suppression(
    db: Connection, environment_id: EnvironmentId, channel: Channel, address: str, *, for_update: bool = False
) -> Suppression | None:
    """Find the suppression of an address, or of its hash."""
    query = LOCK_SUPPRESSION if for_update else FIND_SUPPRESSION
    forms = list_address_forms(environment_id, channel, address)
    scope = {"environment_id": environment_id, "channel": channel}
    row = await db.fetch_one(query, **scope, addresses=forms, address=forms[0])
    return None if row is None else _suppression(row)


async def list_suppressions(
    db: Connection, environment_id: EnvironmentId, filters: dict[str, str], *, page: int, limit: int
) -> tuple[list[Suppression], bool]:
    """Return one page, newest first, and whether there are more; `filters` are values by column."""
    bound: dict[str, Any] = dict(filters)
    conditions = "".join(f" AND {name} = :{name}" for name in filters if name != "address")
    if "address" in bound:
        bound["addresses"] = list_address_forms(environment_id, Channel(bound["channel"]), bound.pop("address"))
        conditions += " AND address {any:addresses}"
    rows: Sequence[Row] = await db.fetch(
        sql(f"""
            SELECT {_COLUMNS} FROM suppressions WHERE environment_id = :environment_id{conditions}
            ORDER BY created_at DESC, address DESC, channel LIMIT :limit OFFSET :skipped
        """),
        environment_id=environment_id,
        limit=limit + 1,
        skipped=page * limit,
        **bound,
    )
    return [_suppression(row) for row in rows[:limit]], len(rows) > limit


async def list_suppressions_after(
    db: Connection,
    environment_id: EnvironmentId,
    filters: dict[str, str],
    *,
    after: tuple[Millis, str, str],
    limit: int,
) -> list[Suppression]:
    """List suppressions behind a moment, an address and a channel, in that order; `filters` are values by column."""
    rows = await db.fetch(
        following_query(tuple(filters)),
        environment_id=environment_id,
        after_moment=after[0],
        after_address=after[1],
        after_channel=after[2],
        limit=limit,
        **filters,
    )
    return [_suppression(row) for row in rows]


def following_query(filters: Sequence[str]) -> Query:
    conditions = "".join(f" AND {name} = :{name}" for name in filters)
    return sql(f"""
        SELECT {_COLUMNS} FROM suppressions
        WHERE environment_id = :environment_id
        AND (created_at, address, channel) > (:after_moment, :after_address, :after_channel){conditions}
        ORDER BY created_at, address, channel LIMIT :limit
    """)


async def delete_suppression(db: Connection, environment_id: EnvironmentId, channel: Channel, address: str) -> None:
    """Delete the suppression of an address, or of its hash."""
    forms = list_address_forms(environment_id, channel, address)
    await db.execute(DELETE_SUPPRESSION, environment_id=environment_id, channel=channel, addresses=forms)


async def delete_unsubscription(db: Connection, environment_id: EnvironmentId, channel: Channel, address: str) -> None:
    """Delete the suppression of an address, or of its hash, unless it is suppressed for another reason."""
    forms = list_address_forms(environment_id, channel, address)
    await db.execute(DELETE_UNSUBSCRIPTION, environment_id=environment_id, channel=channel, addresses=forms)


def _is_unsubscription(reason: str) -> bool:
    return reason == SuppressionReason.UNSUBSCRIBED


def _stored(one: Suppression) -> tuple[object, ...]:
    return tuple(getattr(one, name) for name in INSERT_SUPPRESSIONS.columns)


def _suppression(row: Row) -> Suppression:
    values = {**dict(row), "channel": Channel(row["channel"]), "reason": SuppressionReason(row["reason"])}
    return Suppression(**values)
