"""SQL of receipts that providers are asked for: which tickets, of which messages, and when."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass

from clarion.clock import DAY, MINUTE, Millis
from clarion.db.port import Connection
from clarion.db.query import Insert, sql
from clarion.ids import EnvironmentId, IntegrationId, MessageId

ASKED_AFTER = Millis(15 * MINUTE)
"""How long after a send, and after an answer that had nothing of it."""
RETENTION = Millis(DAY)
"""For how long providers have receipts."""

_COLUMNS = "environment_id, integration_id, ticket, message_id, recipient, is_partial, sent_at"

INSERT_AWAITED = Insert(
    "awaited_receipts",
    *_COLUMNS.split(", "),
    "ask_at",
    on_conflict="ON CONFLICT (environment_id, integration_id, ticket) DO NOTHING",
)
CLAIM_AWAITED = sql(f"""
    UPDATE awaited_receipts SET ask_at = :ask_at
    WHERE (environment_id, integration_id, ticket) IN (
        SELECT environment_id, integration_id, ticket FROM awaited_receipts
        WHERE ask_at <= :now ORDER BY ask_at LIMIT :limit {{skip_locked}}
    )
    RETURNING {_COLUMNS}
""")
DELETE_OLD_AWAITED = sql("""
    DELETE FROM awaited_receipts WHERE (environment_id, integration_id, ticket) IN (
        SELECT environment_id, integration_id, ticket FROM awaited_receipts
        WHERE ask_at <= :now AND sent_at < :before {skip_locked}
    )
""")
DELETE_AWAITED = sql("""
    DELETE FROM awaited_receipts
    WHERE environment_id = :environment_id AND integration_id = :integration_id AND ticket {any:tickets}
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Awaited:
    """What one recipient was sent, and what the provider calls it."""

    environment_id: EnvironmentId
    integration_id: IntegrationId
    ticket: str
    message_id: MessageId
    recipient: str
    is_partial: bool
    """Whether the message had other recipients as well."""
    sent_at: Millis


def await_tickets(
    sender: tuple[EnvironmentId, IntegrationId], message_id: MessageId, tickets: Mapping[str, str], now: Millis
) -> list[Awaited]:
    """The tickets that an integration was given for a message, by recipient."""
    environment_id, integration_id = sender
    return [
        Awaited(
            environment_id=environment_id,
            integration_id=integration_id,
            ticket=ticket,
            message_id=message_id,
            recipient=recipient,
            is_partial=len(tickets) > 1,
            sent_at=now,
        )
        for recipient, ticket in tickets.items()
    ]


async def insert_awaited(db: Connection, awaited: Iterable[Awaited]) -> None:
    await db.insert_many(INSERT_AWAITED, [(*astuple(one), one.sent_at + ASKED_AFTER) for one in awaited])


async def claim_awaited(db: Connection, *, limit: int, now: Millis) -> list[Awaited]:
    """Take tickets that it is time to ask for; those that nobody answers are due again later, for a day or two."""
    await db.execute(DELETE_OLD_AWAITED, now=now, before=now - 2 * RETENTION)
    rows = await db.fetch(CLAIM_AWAITED, ask_at=now + ASKED_AFTER, limit=limit, now=now)
    return [Awaited(**dict(row) | {"is_partial": bool(row["is_partial"])}) for row in rows]


async def delete_awaited(
    db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId, tickets: Sequence[str]
) -> None:
    ids = {"environment_id": environment_id, "integration_id": integration_id}
    await db.execute(DELETE_AWAITED, **ids, tickets=list(tickets))
