"""One message with its attempts, which are the execution details of its job, and its receipts."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.errors import NotFound
from clarion.ids import EnvironmentId, IntegrationId, JobId, MessageId, id_text
from clarion.jobs.details import DetailSource, DetailStatus, ExecutionDetail, read_details
from clarion.messages.model import Message
from clarion.messages.store import COLUMNS, message_of

FIND_MESSAGE = sql(f"SELECT {COLUMNS} FROM messages AS t WHERE t.environment_id = :environment_id AND t.id = :id")
FIND_SENDING = sql("""
    SELECT m.integration_id, m.provider_message_id, m.retry_at, m.given_up_at, i.identifier, j.details
    FROM messages AS m
    LEFT JOIN integrations AS i ON i.environment_id = m.environment_id AND i.id = m.integration_id
    LEFT JOIN jobs AS j ON j.environment_id = m.environment_id AND j.id = m.job_id
    WHERE m.environment_id = :environment_id AND m.id = :id
""")


class SendAttempt(Struct, frozen=True, kw_only=True):
    """An attempt of the message's job to send, through one integration."""

    at: Millis
    integration: str | None
    """The identifier of the integration."""
    is_success: bool
    detail: str
    error: str | None = None
    answer: Any = None
    milliseconds: int | None = None


class SendingHistory(Struct, frozen=True, kw_only=True):
    """What is known of the way of a message to its provider."""

    integration_id: IntegrationId | None
    integration: str | None
    provider_message_id: str | None
    retry_at: Millis | None
    given_up_at: Millis | None
    attempts: Sequence[SendAttempt]
    receipts: Sequence[ExecutionDetail]


async def get_message(db: Connection, environment_id: EnvironmentId, message_id: MessageId) -> Message:
    row = await db.fetch_one(FIND_MESSAGE, environment_id=environment_id, id=message_id)
    if row is None:
        raise NotFound("Message", id_text(message_id))
    return message_of(row)


async def get_sending(db: Connection, message: Message) -> SendingHistory:
    """Return how a message was sent; its job may be deleted, and its attempts with it."""
    row = await db.fetch_one(FIND_SENDING, environment_id=message.environment_id, id=message.id)
    if row is None:
        raise NotFound("Message", id_text(message.id))
    details = [] if row["details"] is None else read_details(JobId(message.job_id), row["details"])
    # A message whose provider gave no id has its own there.
    own = row["provider_message_id"] == id_text(message.id)
    return SendingHistory(
        integration_id=row["integration_id"],
        integration=row["identifier"],
        provider_message_id=None if own else row["provider_message_id"],
        retry_at=row["retry_at"],
        given_up_at=row["given_up_at"],
        attempts=list_attempts(details),
        receipts=[one for one in details if one.source is DetailSource.WEBHOOK],
    )


def list_attempts(details: Sequence[ExecutionDetail]) -> list[SendAttempt]:
    """Read the attempts from execution details: each begins when an integration is selected."""
    attempts: list[SendAttempt] = []
    integration: str | None = None
    is_open = False
    for one in details:
        raw = one.raw if isinstance(one.raw, dict) else {}
        if "_integrationId" in raw:
            integration, is_open = raw.get("identifier"), True
        elif is_open and one.source is DetailSource.INTERNAL and one.status in _RESULTS and "answer" in raw:
            attempts.append(
                SendAttempt(
                    at=one.at,
                    integration=integration,
                    is_success=one.status is DetailStatus.SUCCESS,
                    detail=one.detail,
                    error=raw.get("message"),
                    answer=raw["answer"],
                    milliseconds=raw.get("milliseconds"),
                )
            )
            is_open = False
    return attempts


_RESULTS = (DetailStatus.SUCCESS, DetailStatus.FAILED)
