"""What an environment may be set to besides its time zone: rate limits, and how long data is kept."""

from enum import StrEnum

import msgspec
from msgspec import Struct

from clarion.jsontext import json_text


class LimitCategory(StrEnum):
    """What a rate limit counts; each request counts in its own category and in ALL."""

    TRIGGER = "trigger"
    """Events that are triggered; each event of a bulk counts."""
    CONFIGURATION = "configuration"
    """Changes of workflows, integrations, webhooks, environments and keys."""
    ALL = "global"


class RateLimit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A token bucket: `per_second` on average, and up to `burst` at once; without `burst`, those of one second."""

    per_second: float
    burst: int | None = None


class DataKind(StrEnum):
    """What is kept for a time of its own."""

    RUNS = "runs"
    """Triggers, their runs and jobs, and messages of all channels but in-app."""
    IN_APP_MESSAGES = "inAppMessages"
    OUTBOX = "outbox"
    """Messages of the built-in providers."""
    WEBHOOKS = "webhooks"
    """Events for webhooks and their deliveries."""
    RECEIPTS = "receipts"
    IDEMPOTENCY = "idempotency"
    AUDIT = "audit"
    WORKFLOW_VERSIONS = "workflowVersions"
    """Versions that are neither current nor needed by a run."""


class EnvironmentOptions(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an environment sets; what it leaves out is as the settings of the installation say."""

    limits: dict[LimitCategory, RateLimit] = {}
    retention_days: dict[DataKind, int] = {}
    color: str | None = None
    """How people tell it from others, such as `#2f6fed`."""


_OPTIONS = msgspec.json.Decoder(EnvironmentOptions)


def decode_options(text: str | None) -> EnvironmentOptions:
    return EnvironmentOptions() if text is None else _OPTIONS.decode(text)


def encode_options(options: EnvironmentOptions) -> str | None:
    return None if options == EnvironmentOptions() else json_text(options)
