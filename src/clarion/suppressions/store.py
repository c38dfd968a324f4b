"""SQL of suppressed addresses."""

from collections.abc import Collection, Iterable, Sequence

from clarion.db.port import Connection, Row
from clarion.db.query import Insert, sql
from clarion.ids import EnvironmentId
from clarion.suppressions.model import Suppression, SuppressionReason, fold_address
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
    WHERE environment_id = :environment_id AND channel = :channel AND address = :address
"""
FIND_SUPPRESSION, LOCK_SUPPRESSION = sql(_FIND_SUPPRESSION), sql(_FIND_SUPPRESSION + " {for_update}")
DELETE_SUPPRESSION = sql("""
    DELETE FROM suppressions WHERE environment_id = :environment_id AND channel = :channel AND address = :address
""")


async def list_suppressed(
    db: Connection, environment_id: EnvironmentId, addresses: Collection[tuple[Channel, str]]
) -> dict[tuple[Channel, str], str]:
    """Return the suppressed ones of the given addresses, as spelled by the caller, with the reason."""
    folded = {given: (given[0], fold_address(*given)) for given in addresses}
    if not folded:
        return {}
    rows = await db.fetch(
        LIST_SUPPRESSED,
        environment_id=environment_id,
        channels=sorted({channel for channel, _ in folded.values()}),
        addresses=sorted({address for _, address in folded.values()}),
    )
    reasons = {(Channel(row["channel"]), str(row["address"])): str(row["reason"]) for row in rows}
    return {given: reasons[one] for given, one in folded.items() if one in reasons}


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
    query = LOCK_SUPPRESSION if for_update else FIND_SUPPRESSION
    row = await db.fetch_one(query, environment_id=environment_id, channel=channel, address=address)
    return None if row is None else _suppression(row)


async def list_suppressions(
    db: Connection, environment_id: EnvironmentId, filters: dict[str, str], *, page: int, limit: int
) -> tuple[list[Suppression], bool]:
    """Return one page, newest first, and whether there are more; `filters` are values by column."""
    conditions = "".join(f" AND {name} = :{name}" for name in filters)
    rows: Sequence[Row] = await db.fetch(
        sql(f"""
            SELECT {_COLUMNS} FROM suppressions WHERE environment_id = :environment_id{conditions}
            ORDER BY created_at DESC, address DESC, channel LIMIT :limit OFFSET :skipped
        """),
        environment_id=environment_id,
        limit=limit + 1,
        skipped=page * limit,
        **filters,
    )
    return [_suppression(row) for row in rows[:limit]], len(rows) > limit


async def delete_suppression(db: Connection, environment_id: EnvironmentId, channel: Channel, address: str) -> bool:
    """Delete a suppression; returns whether the address was suppressed."""
    removed = await db.execute(DELETE_SUPPRESSION, environment_id=environment_id, channel=channel, address=address)
    return removed > 0


def _stored(one: Suppression) -> tuple[object, ...]:
    return tuple(getattr(one, name) for name in INSERT_SUPPRESSIONS.columns)


def _suppression(row: Row) -> Suppression:
    values = {**dict(row), "channel": Channel(row["channel"]), "reason": SuppressionReason(row["reason"])}
    return Suppression(**values)
