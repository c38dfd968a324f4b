"""One message: its attempts, which are execution details of its job, its receipts, and the e-mail as it was sent."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.errors import NotFound
from clarion.ids import EnvironmentId, IntegrationId, JobId, MessageId, id_text
from clarion.jobs.details import DetailSource, DetailStatus, ExecutionDetail, read_details
from clarion.jsontext import json_value
from clarion.messages.model import Message, MessageOrigin
from clarion.messages.store import COLUMNS, message_of
from clarion.providers.definition.overrides import provider_overrides, with_options
from clarion.providers.email.addresses import split_addresses
from clarion.providers.email.message import read_bodies, with_unsubscribe_headers
from clarion.vocabulary import Channel
from clarion.workflows.store import list_versions_by_id

FIND_MESSAGE = sql(f"SELECT {COLUMNS} FROM messages AS t WHERE t.environment_id = :environment_id AND t.id = :id")
FIND_SENDING = sql("""
    SELECT m.integration_id, m.provider_message_id, m.retry_at, m.given_up_at, i.identifier, j.details
    FROM messages AS m
    LEFT JOIN integrations AS i ON i.environment_id = m.environment_id AND i.id = m.integration_id
    LEFT JOIN jobs AS j ON j.environment_id = m.environment_id AND j.id = m.job_id
    WHERE m.environment_id = :environment_id AND m.id = :id
""")

FIND_OPTIONS = sql("""
    SELECT m.email_options, m.unsubscribe_url, n.version_id FROM messages AS m
    LEFT JOIN notifications AS n ON n.environment_id = m.environment_id AND n.id = m.notification_id
    WHERE m.environment_id = :environment_id AND m.id = :id
""")


_RESULTS = (DetailStatus.SUCCESS, DetailStatus.FAILED)


_TEXTS = ("html", "text", "preheader")


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


class Mail(Struct, frozen=True, kw_only=True):
    """What a provider puts into a mail; a sender of None is the one of the integration."""

    sender: str | None
    sender_name: str | None
    subject: str
    reply_to: list[str]
    to_others: list[str]
    cc: list[str]
    bcc: list[str]
    headers: dict[str, str]
    attachments: list[str]
    """The names of the files."""
    html: str | None
    text: str


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
    for detail in details:
        raw = detail.raw if isinstance(detail.raw, dict) else {}
        if "_integrationId" in raw:
            integration, is_open = raw.get("identifier"), True
        elif is_open and detail.source is DetailSource.INTERNAL and detail.status in _RESULTS and "answer" in raw:
            attempts.append(
                SendAttempt(
                    at=detail.at,
                    integration=integration,
                    is_success=detail.status is DetailStatus.SUCCESS,
                    detail=detail.detail,
                    error=raw.get("message"),
                    answer=raw["answer"],
                    milliseconds=raw.get("milliseconds"),
                )
            )
            is_open = False
    return attempts


async def find_mail(db: Connection, message: Message, origin: MessageOrigin) -> Mail | None:
    """Return the message as a mail; None for other channels."""
    if message.channel != Channel.EMAIL:
        return None
    row = await db.fetch_one(FIND_OPTIONS, environment_id=message.environment_id, id=message.id)
    options = None if row is None else json_value(row["email_options"])
    step_key = None
    if row is not None and row["version_id"] is not None and "steps" in (origin.overrides or {}):
        version_id = row["version_id"]
        versions = await list_versions_by_id(db, message.environment_id, [version_id])
        step = versions[version_id].find_step(id_text(message.step_id)) if version_id in versions else None
        step_key = None if step is None else step.step_id
    overrides = provider_overrides(origin.overrides or {}, message.channel, message.provider_id or "", step_key)
    unsubscribe_url = None if row is None else row["unsubscribe_url"]
    return read_mail(message, with_options(options, overrides), unsubscribe_url)


def read_mail(message: Message, options: Mapping[str, Any], unsubscribe_url: str | None = None) -> Mail:
    """Read the mail from the message and its options, without judging them."""
    # Overrides that are no text make the send fail, and have no place in the mail.
    texts = {name: options[name] for name in _TEXTS if isinstance(options.get(name), str)}
    html, text = read_bodies(message.content, texts)
    headers = options.get("headers")
    given = {str(name): str(value) for name, value in headers.items()} if isinstance(headers, dict) else {}
    return Mail(
        sender=_text(options.get("from")),
        sender_name=_text(options.get("senderName")),
        subject=_text(options.get("subject")) or message.subject or "",
        reply_to=_addresses(options, "replyTo"),
        to_others=_addresses(options, "to"),
        cc=_addresses(options, "cc"),
        bcc=_addresses(options, "bcc"),
        headers=with_unsubscribe_headers(given, unsubscribe_url),
        attachments=_names(options.get("attachments")),
        html=html,
        text=text,
    )


def _addresses(options: Mapping[str, Any], name: str) -> list[str]:
    return [str(one).strip() for one in split_addresses(options.get(name) or []) or ()]


def _names(files: Any) -> list[str]:
    objects = [one for one in files if isinstance(one, dict)] if isinstance(files, list) else []
    return [str(one.get("name") or one.get("filename") or "") for one in objects]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
