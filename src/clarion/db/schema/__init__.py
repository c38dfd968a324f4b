"""Every table: the map of the data.

organizations ─ environments ─ api_keys             idempotency_keys
subscribers ─ subscriber_channels                   topics ─ topic_subscriptions
workflows ─ workflow_versions ─ workflow_version_notes (immutable)  preferences (what a person switched)
integrations                                        triggers ─ notifications ─ jobs ─ messages
digest_windows ─ digest_events                      throttle_passes
emitted_events, event_waits (of jobs), awaited_events  answers (of runs)
jobs ─ http_requests (sealed, while they are under way)   http_hosts (that fail)
triggers ─ http_answers (that their runs share)
trigger_attachments ─ attachments
integration_health, integration_counts              suppressions, receipts, mail_reactions
webhook_endpoints ─ webhook_deliveries ─ webhook_events ─ webhook_event_people
audit_entries, rate_limit_buckets, erasures         processes, leases, retention_progress (of the installation)
organizations ─ members ─ member_sessions             member_links
layouts ─ layout_versions (immutable)               translations, contexts
organizations ─ environment_variables ─ environment_variable_values
channel_connections ─ channel_endpoints (of subscribers, or shared by contexts)
integrations ─ telegram_webhooks, chat_links (codes of some minutes)
schedules ─ schedule_runs                           segments

Rules: every table carries `environment_id` and leads its keys with it. Ids are 16 bytes and time-ordered, so
a primary key is also the order of creation. Moments are milliseconds in BIGINT, JSON is text encoded by us (it
keeps the caller's order and numbers). No foreign keys: the hot path writes parents and children in one
transaction, and deletion is spelled out where it happens. What is the same for many is written once: payload and
overrides live in the trigger, attached files in a table of their own, step texts in the workflow version.

SQLAlchemy describes the tables for the migrations and their test; it never runs a query.
"""

from clarion.db.schema import (
    accounts,
    addresses,
    content,
    delivery,
    operations,
    people,
    requests,
    runs,
    schedules,
    setup,
    waits,
)
from clarion.db.schema.columns import metadata

__all__ = [
    "accounts",
    "addresses",
    "content",
    "delivery",
    "metadata",
    "operations",
    "people",
    "requests",
    "runs",
    "schedules",
    "setup",
    "waits",
]
