"""An e-mail as its provider was given it: what the step asks for, and what the trigger wants instead."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import id_text
from clarion.jsontext import json_value
from clarion.messages.model import Message, MessageOrigin
from clarion.providers.definition.options import provider_overrides, with_options
from clarion.providers.email.addresses import split_addresses
from clarion.providers.email.message import read_bodies
from clarion.vocabulary import Channel
from clarion.workflows.store import list_versions_by_id

FIND_OPTIONS = sql("""
    SELECT m.email_options, n.version_id FROM messages AS m
    LEFT JOIN notifications AS n ON n.environment_id = m.environment_id AND n.id = m.notification_id
    WHERE m.environment_id = :environment_id AND m.id = :id
""")


_TEXTS = ("html", "text", "preheader")


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
    return read_mail(message, with_options(options, overrides))


def read_mail(message: Message, options: Mapping[str, Any]) -> Mail:
    """Read the mail from the message and its options, without judging them."""
    # Overrides that are no text make the send fail, and have no place in the mail.
    texts = {name: options[name] for name in _TEXTS if isinstance(options.get(name), str)}
    html, text = read_bodies(message.content, texts)
    headers = options.get("headers")
    return Mail(
        sender=_text(options.get("from")),
        sender_name=_text(options.get("senderName")),
        subject=_text(options.get("subject")) or message.subject or "",
        reply_to=_addresses(options, "replyTo"),
        to_others=_addresses(options, "to"),
        cc=_addresses(options, "cc"),
        bcc=_addresses(options, "bcc"),
        headers={str(name): str(value) for name, value in headers.items()} if isinstance(headers, dict) else {},
        attachments=_names(options.get("attachments")),
        html=html,
        text=text,
    )


def _addresses(options: Mapping[str, Any], name: str) -> list[str]:
    return [str(one).strip() for one in split_addresses(options.get(name) or []) or ()]


def _names(files: Any) -> list[str]:
    given = [one for one in files if isinstance(one, dict)] if isinstance(files, list) else []
    return [str(one.get("name") or one.get("filename") or "") for one in given]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
