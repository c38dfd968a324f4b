"""Records replies: each mail once, with the event that tells of it."""

import hashlib
from typing import Any, Final

from msgspec import Struct

from clarion.clock import MINUTE, Millis
from clarion.db.port import Connection
from clarion.http.attempts import AttemptLimit, LeakyCounters
from clarion.ids import EnvironmentId, MessageId, WebhookEventId, id_text
from clarion.jobs import store as jobs
from clarion.jobs.details import DetailCode, DetailSource, ExecutionDetail
from clarion.jsontext import json_text, plain_value
from clarion.monitoring.metrics import ReplyOutcome
from clarion.receipts.actions import MAX_DETAILS_LENGTH
from clarion.receipts.store import insert_receipts, list_stored_digests
from clarion.replies import store
from clarion.replies.callbacks import StepCallback, find_callback
from clarion.replies.model import InboundMail, describe_mail
from clarion.tracking.reactions import ReactionCount, add_reactions
from clarion.vault import Vault
from clarion.waits.message_events import emit_message_events
from clarion.webhooks.callbacks import append_callback, ensure_callback_endpoint
from clarion.webhooks.events import append_events
from clarion.webhooks.model import EventType
from clarion.webhooks.store import list_message_rows
from clarion.webhooks.wire import MessageEvent

MAX_PER_MESSAGE: Final = AttemptLimit(burst=20, every=MINUTE)
"""More replies to one message are dropped: who has its address could fill the store."""


class ReplyLimit:
    """How many replies to each message came in at this process."""

    def __init__(self) -> None:
        self._counters = LeakyCounters()

    def admit(self, message_id: MessageId, now: Millis) -> bool:
        """Count a reply, and return whether it is taken."""
        return self._counters.admit(message_id, MAX_PER_MESSAGE, now)


class MailReply(Struct, frozen=True, kw_only=True):
    """A mail, and the message that its address names."""

    environment_id: EnvironmentId
    message_id: MessageId
    mail: InboundMail


async def record_reply(db: Connection, reply: MailReply, vault: Vault, now: Millis) -> ReplyOutcome:
    """Record a reply, unless it came in before, and queue what is posted about it."""
    environment_id, mail = reply.environment_id, reply.mail
    original = await store.find_original(db, environment_id, reply.message_id)
    if original is None:
        return ReplyOutcome.UNKNOWN
    sizes = await jobs.lock_jobs(db, environment_id, {original.job_id})
    if original.job_id not in sizes:
        return ReplyOutcome.UNKNOWN
    digest, first = _digest(reply), _digest_of_first(original.id)
    stored = await list_stored_digests(db, environment_id, [digest, first])
    if digest in stored:
        return ReplyOutcome.REPEATED
    rows = await list_message_rows(db, environment_id, [original.id])
    if original.id not in rows:
        return ReplyOutcome.UNKNOWN
    is_counted = first not in stored and not mail.is_automatic
    await insert_receipts(db, environment_id, [digest, first] if is_counted else [digest], now)
    callback = await find_callback(db, environment_id, original, rows[original.id], mail)
    queued = None if callback is None else await _queue(db, reply, original, callback, vault, now)
    if sizes[original.job_id] < MAX_DETAILS_LENGTH:
        details = [_detail(mail, now, queued)]
        if callback is not None and callback.url is None:
            details.append(_make_detail(DetailCode.REPLY_URL_MISSING, now, {"url": callback.rendered[:200]}))
        await jobs.append_details(db, environment_id, {original.job_id: details})
    message = plain_value(MessageEvent.of(rows[original.id]))
    event = message | {"mail": plain_value(describe_mail(mail))}
    replied = (EventType.MESSAGE_REPLIED, event)
    await append_events(db, environment_id, [replied], now, about=original.subscriber_id)
    await emit_message_events(db, environment_id, [(EventType.MESSAGE_REPLIED, original.id)], now)
    if is_counted:
        await add_reactions(db, environment_id, {original.workflow_id: ReactionCount(replied=1)}, now)
    return ReplyOutcome.RECORDED


async def _queue(
    db: Connection, reply: MailReply, original: store.Original, callback: StepCallback, vault: Vault, now: Millis
) -> WebhookEventId | None:
    if callback.url is None:
        return None
    environment_id = reply.environment_id
    await ensure_callback_endpoint(db, environment_id, vault, now)
    return await append_callback(db, environment_id, callback.url, callback.body, now, about=original.subscriber_id)


def _digest(reply: MailReply) -> bytes:
    """Hash what identifies a mail: its Message-ID, or all of it."""
    mail = reply.mail
    identity = mail.message_id or json_text([mail.sender, mail.date, mail.subject, mail.text, mail.html])
    return hashlib.blake2b(b"reply" + reply.message_id + identity.encode(), digest_size=16).digest()


def _digest_of_first(message_id: MessageId) -> bytes:
    """Identify the first reply of a person to a message, the one that counts."""
    return hashlib.blake2b(b"first reply" + message_id, digest_size=16).digest()


def _detail(mail: InboundMail, now: Millis, event_id: WebhookEventId | None) -> str:
    """`event_id` is that of the callback, if there is one."""
    raw: dict[str, Any] = {
        "from": [one.address for one in mail.sender],
        "subject": mail.subject[:200],
        "messageId": mail.message_id[:200],
        "isAutomatic": mail.is_automatic,
    }
    if event_id is not None:
        raw["callbackEventId"] = id_text(event_id)
    return _make_detail(DetailCode.REPLIED, now, raw)


def _make_detail(code: DetailCode, now: Millis, raw: dict[str, Any]) -> str:
    return json_text(ExecutionDetail.of(code, now, source=DetailSource.WEBHOOK, raw=raw))
