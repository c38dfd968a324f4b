"""SQL of receipt tickets: the ids under which receipts of sent messages are polled, and when."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import astuple

from clarion.clock import DAY, MINUTE, Millis
from clarion.db.port import Connection
from clarion.db.query import Insert, sql
from clarion.ids import EnvironmentId, IntegrationId, MessageId

POLL_INTERVAL = Millis(15 * MINUTE)
"""The delay of the first poll after a send, and between polls."""
RETENTION = Millis(DAY)
"""How long providers store receipts."""

_COLUMNS = "environment_id, integration_id, ticket, message_id, recipient, is_partial, sent_at"

INSERT_TICKETS = Insert(
    "awaited_receipts",
    *_COLUMNS.split(", "),
    "ask_at",
    on_conflict="ON CONFLICT (environment_id, integration_id, ticket) DO NOTHING",
)
# As a subquery of the UPDATE, PostgreSQL may run it several times and change more rows than the limit.
CLAIM_TICKETS = sql(f"""
    WITH due AS MATERIALIZED (
        SELECT environment_id, integration_id, ticket FROM awaited_receipts
        WHERE ask_at <= :now ORDER BY ask_at LIMIT :limit {{skip_locked}}
    )
    UPDATE awaited_receipts SET ask_at = :ask_at
    WHERE (environment_id, integration_id, ticket) IN (SELECT environment_id, integration_id, ticket FROM due)
    RETURNING {_COLUMNS}
""")
DELETE_OLD_TICKETS = sql("""
    DELETE FROM awaited_receipts WHERE (environment_id, integration_id, ticket) IN (
        SELECT environment_id, integration_id, ticket FROM awaited_receipts
        WHERE ask_at <= :now AND sent_at < :before {skip_locked}
    )
""")
DELETE_TICKETS = sql("""
    DELETE FROM awaited_receipts
    WHERE environment_id = :environment_id AND integration_id = :integration_id AND ticket {any:tickets}
""")


class ReceiptTicket(Struct, frozen=True, kw_only=True):
    """The provider's id for what it sent to one recipient of a message."""

    environment_id: EnvironmentId
    integration_id: IntegrationId
    ticket: str
    message_id: MessageId
    recipient: str
    is_partial: bool
    """Whether the message had other recipients too."""
    sent_at: Millis


def make_tickets(
    integration: tuple[EnvironmentId, IntegrationId], message_id: MessageId, tickets: Mapping[str, str], now: Millis
) -> list[ReceiptTicket]:
    """Make records of the tickets, given by recipient, that a provider returned for a message."""
    environment_id, integration_id = integration
    return [
        ReceiptTicket(
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


async def insert_tickets(db: Connection, tickets: Iterable[ReceiptTicket]) -> None:
    await db.insert_many(INSERT_TICKETS, [(*astuple(one), one.sent_at + POLL_INTERVAL) for one in tickets])


async def claim_tickets(db: Connection, *, limit: int, now: Millis) -> list[ReceiptTicket]:
    """Claim due tickets; unless they are deleted they become due again, for up to two days after the send."""
    await db.execute(DELETE_OLD_TICKETS, now=now, before=now - 2 * RETENTION)
    rows = await db.fetch(CLAIM_TICKETS, ask_at=now + POLL_INTERVAL, limit=limit, now=now)
    return [ReceiptTicket(**dict(row) | {"is_partial": bool(row["is_partial"])}) for row in rows]


async def delete_tickets(
    db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId, tickets: Sequence[str]
) -> None:
    ids = {"environment_id": environment_id, "integration_id": integration_id}
    await db.execute(DELETE_TICKETS, **ids, tickets=list(tickets))
