"""What an environment can set for itself: rate limits, how long data is kept, what people may do."""

from enum import StrEnum

import msgspec
from msgspec import Struct

from clarion.jsontext import json_text
from clarion.replies.options import ReplyOptions
from clarion.settings.rate_limits import LimitCategory, RateLimit
from clarion.tracking.model import TrackingOptions


class DataKind(StrEnum):
    """What is kept for a time of its own."""

    RUNS = "runs"
    """Triggers, their runs and jobs, and messages of all channels but in-app."""
    IN_APP_MESSAGES = "inAppMessages"
    """Messages of inboxes."""
    OUTBOX = "outbox"
    """Messages of the built-in providers."""
    WEBHOOKS = "webhooks"
    """Events for webhooks and their deliveries."""
    RECEIPTS = "receipts"
    """Reports of providers about deliveries."""
    IDEMPOTENCY = "idempotency"
    """Idempotency keys, and the responses that were given under them."""
    AUDIT = "audit"
    """Entries of the audit log."""
    WORKFLOW_VERSIONS = "workflowVersions"
    """Versions of workflows and layouts that are neither current nor needed by a run."""


class MailOptions(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an environment sets for its e-mails. It has a column of its own, which processes of 0.1.0 do not write."""

    tracking: TrackingOptions = TrackingOptions()
    """What is tracked of them."""
    replies: ReplyOptions = ReplyOptions()
    """Where replies to them go."""


class EnvironmentOptions(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an environment sets; what it leaves out is as the settings of the installation say."""

    limits: dict[LimitCategory, RateLimit] = {}
    retention_days: dict[DataKind, int] = {}
    subscribers_create_topics: bool = True
    """Whether people make topics by subscribing to them."""
    color: str | None = None
    """How people tell it from others, such as `#2f6fed`."""


_OPTIONS = msgspec.json.Decoder(EnvironmentOptions)
_MAIL_OPTIONS = msgspec.json.Decoder(MailOptions)


def decode_options(text: str | None) -> EnvironmentOptions:
    return EnvironmentOptions() if text is None else _OPTIONS.decode(text)


def encode_options(options: EnvironmentOptions) -> str | None:
    return None if options == EnvironmentOptions() else json_text(options)


def decode_mail_options(text: str | None) -> MailOptions:
    return MailOptions() if text is None else _MAIL_OPTIONS.decode(text)


def encode_mail_options(options: MailOptions) -> str | None:
    return None if options == MailOptions() else json_text(options)
