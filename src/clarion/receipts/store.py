"""SQL of receipts, of early reports, and of tickets: the ids under which receipts are polled, and when."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from clarion.clock import DAY, MINUTE, Millis
from clarion.db.port import Connection, Row
from clarion.db.query import Insert, sql
from clarion.ids import EnvironmentId, IntegrationId, JobId, MessageId
from clarion.integrations.model import Integration
from clarion.integrations.store import INTEGRATION_COLUMNS, integration_of
from clarion.integrations.variables import with_variables
from clarion.jsontext import json_text, json_value
from clarion.receipts.model import DeliveryReport, MessageState, ReportedMessage, ReportSource
from clarion.tracking.model import decode_tracking
from clarion.vault import Vault
from clarion.vocabulary import Channel, MessageStatus

FIND_INTEGRATION = sql(f"""
    SELECT {INTEGRATION_COLUMNS} FROM integrations
    WHERE environment_id = :environment_id AND id = :id AND deleted_at IS NULL
""")
SET_SOURCE = sql("""
    UPDATE integrations SET reports_from = COALESCE(reports_from, :source)
    WHERE environment_id = :environment_id AND id = :id
    RETURNING reports_from
""")
LIST_BY_OWN_ID = sql("""
    SELECT id, job_id FROM messages WHERE environment_id = :environment_id AND id {any:ids} AND channel = :channel
""")
# Without ORDER BY: PostgreSQL would scan all messages instead of sorting these few.
LIST_BY_PROVIDER_ID = sql("""
    SELECT id, job_id, provider_message_id FROM messages
    WHERE environment_id = :environment_id AND provider_message_id {any:ids}
    AND integration_id = :integration_id
""")
LIST_REPORTED_MESSAGES = sql("""
    SELECT id, job_id, workflow_id, subscriber_id, integration_id, channel, email, phone,
        status, error_id, error_text, delivery, delivered_at, tracking
    FROM messages WHERE environment_id = :environment_id AND id {any:ids}
""")
LIST_STORED_DIGESTS = sql("SELECT digest FROM receipts WHERE environment_id = :environment_id AND digest {any:digests}")
INSERT_RECEIPTS = Insert("receipts", "environment_id", "digest", "received_at")
UPDATE_MESSAGE_STATE = sql("""
    UPDATE messages
    SET status = :status, error_id = :error_id, error_text = :error_text, delivery = :delivery,
        delivered_at = :delivered_at, tracking = :tracking, updated_at = :now
    WHERE environment_id = :environment_id AND id = :id
""")
INSERT_EARLY = Insert(
    "early_reports",
    *("environment_id", "integration_id", "digest", "report", "received_at"),
    on_conflict="ON CONFLICT (environment_id, integration_id, digest) DO NOTHING",
)
LIST_EARLY_INTEGRATIONS = sql("SELECT DISTINCT environment_id, integration_id FROM early_reports")
LOCK_EARLY = sql("""
    SELECT report, received_at FROM early_reports
    WHERE environment_id = :environment_id AND integration_id = :integration_id AND digest > :after
    ORDER BY digest LIMIT :limit {skip_locked}
""")
DELETE_EARLY = sql("""
    DELETE FROM early_reports
    WHERE environment_id = :environment_id AND integration_id = :integration_id AND digest {any:digests}
""")
DELETE_OLD_EARLY = sql("""
    DELETE FROM early_reports WHERE (environment_id, integration_id, digest) IN (
        SELECT environment_id, integration_id, digest FROM early_reports WHERE received_at < :before {skip_locked}
    )
""")
POLL_INTERVAL = Millis(15 * MINUTE)
"""The delay of the first poll after a send, and between polls."""
TICKET_RETENTION = Millis(DAY)
"""How long providers store receipts."""

_TICKET_COLUMNS = "environment_id, integration_id, ticket, message_id, recipient, is_partial, sent_at"

INSERT_TICKETS = Insert(
    "awaited_receipts",
    *_TICKET_COLUMNS.split(", "),
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
    RETURNING {_TICKET_COLUMNS}
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


async def find_integration(
    db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId, vault: Vault
) -> Integration | None:
    row = await db.fetch_one(FIND_INTEGRATION, environment_id=environment_id, id=integration_id)
    return None if row is None else await with_variables(db, integration_of(row, vault), vault)


async def set_source(db: Connection, integration: Integration, source: str) -> str | None:
    """Store the customer of the provider whose reports are accepted, unless one is stored; returns the stored one."""
    ids = {"environment_id": integration.environment_id, "id": integration.id}
    row = await db.fetch_one(SET_SOURCE, **ids, source=source)
    return None if row is None else row["reports_from"]


async def list_by_own_id(
    db: Connection, source: ReportSource, ids: Sequence[MessageId]
) -> dict[MessageId, tuple[MessageId, JobId]]:
    """Find messages of the source's channel by our id, which the provider knows only from the message itself."""
    rows = await db.fetch(
        LIST_BY_OWN_ID,
        environment_id=source.environment_id,
        ids=list(ids),
        channel=source.channel,
    )
    return {row["id"]: (row["id"], row["job_id"]) for row in rows}


async def list_by_provider_id(
    db: Connection, source: ReportSource, ids: Sequence[str]
) -> dict[str, tuple[MessageId, JobId]]:
    """Find messages that the source sent by the provider's id; of two with one id, the newer."""
    rows = await db.fetch(
        LIST_BY_PROVIDER_ID,
        environment_id=source.environment_id,
        ids=list(ids),
        integration_id=source.id,
    )
    oldest_first = sorted(rows, key=lambda row: bytes(row["id"]))
    return {row["provider_message_id"]: (row["id"], row["job_id"]) for row in oldest_first}


async def list_reported_messages(
    db: Connection, environment_id: EnvironmentId, ids: Iterable[MessageId]
) -> dict[MessageId, ReportedMessage]:
    rows = await db.fetch(LIST_REPORTED_MESSAGES, environment_id=environment_id, ids=list(ids))
    return {row["id"]: _reported_message(row) for row in rows}


async def list_stored_digests(db: Connection, environment_id: EnvironmentId, digests: Sequence[bytes]) -> set[bytes]:
    """Return the digests that are stored already."""
    rows = await db.fetch(LIST_STORED_DIGESTS, environment_id=environment_id, digests=list(digests))
    return {bytes(row["digest"]) for row in rows}


async def insert_receipts(db: Connection, environment_id: EnvironmentId, digests: Iterable[bytes], now: Millis) -> None:
    await db.insert_many(INSERT_RECEIPTS, [(environment_id, digest, now) for digest in digests])


async def insert_early_reports(
    db: Connection, source: ReportSource, reports: Iterable[DeliveryReport], now: Millis
) -> None:
    """Store reports whose messages may be recorded soon."""
    ids = source.environment_id, source.id
    await db.insert_many(INSERT_EARLY, [(*ids, one.digest, json_text(one), now) for one in reports])


async def list_early_integrations(db: Connection) -> list[tuple[EnvironmentId, IntegrationId]]:
    rows = await db.fetch(LIST_EARLY_INTEGRATIONS)
    return [(row["environment_id"], row["integration_id"]) for row in rows]


async def lock_early_reports(
    db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId, *, after: bytes, limit: int
) -> list[tuple[DeliveryReport, Millis]]:
    """Lock early reports in the order of their digests, with their moments of arrival; skips locked ones."""
    ids = {"environment_id": environment_id, "integration_id": integration_id}
    rows = await db.fetch(LOCK_EARLY, **ids, after=after, limit=limit)
    return [(msgspec.json.decode(row["report"], type=DeliveryReport), row["received_at"]) for row in rows]


async def delete_early_reports(
    db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId, digests: Sequence[bytes]
) -> None:
    ids = {"environment_id": environment_id, "integration_id": integration_id}
    await db.execute(DELETE_EARLY, **ids, digests=list(digests))


async def delete_old_early_reports(db: Connection, *, before: Millis) -> int:
    return await db.execute(DELETE_OLD_EARLY, before=before)


async def update_message_states(
    db: Connection, environment_id: EnvironmentId, states: Mapping[MessageId, MessageState], now: Millis
) -> None:
    rows = [
        {
            "environment_id": environment_id,
            "id": message_id,
            "status": state.status,
            "error_id": state.error_id,
            "error_text": state.error_text,
            "delivery": json_text(state.delivery),
            "delivered_at": json_text(state.delivered_at) if state.delivered_at else None,
            "tracking": None if state.tracking is None else json_text(state.tracking),
            "now": now,
        }
        for message_id, state in states.items()
    ]
    await db.execute_many(UPDATE_MESSAGE_STATE, rows)


def _reported_message(row: Row) -> ReportedMessage:
    return ReportedMessage(
        id=row["id"],
        job_id=row["job_id"],
        workflow_id=row["workflow_id"],
        subscriber_id=row["subscriber_id"],
        integration_id=row["integration_id"],
        channel=Channel(row["channel"]),
        email=row["email"],
        phone=row["phone"],
        state=MessageState(
            status=MessageStatus(row["status"]),
            error_id=row["error_id"],
            error_text=row["error_text"],
            delivery=json_value(row["delivery"]) or {},
            delivered_at=tuple(json_value(row["delivered_at"]) or ()),
            tracking=None if row["tracking"] is None else decode_tracking(row["tracking"]),
        ),
    )


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
    await db.execute(DELETE_OLD_TICKETS, now=now, before=now - 2 * TICKET_RETENTION)
    rows = await db.fetch(CLAIM_TICKETS, ask_at=now + POLL_INTERVAL, limit=limit, now=now)
    return [ReceiptTicket(**dict(row) | {"is_partial": bool(row["is_partial"])}) for row in rows]


async def delete_tickets(
    db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId, tickets: Sequence[str]
) -> None:
    ids = {"environment_id": environment_id, "integration_id": integration_id}
    await db.execute(DELETE_TICKETS, **ids, tickets=list(tickets))
