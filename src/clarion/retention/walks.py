"""Everything that is walked, in the order of its turns."""

from clarion.retention import memory, messages, records, runs, shared, triggers, versions
from clarion.retention.scope import Walk

WALKS: tuple[Walk, ...] = (
    runs.WALK,
    triggers.WALK,
    messages.IN_APP,
    *messages.OUTBOX,
    *records.WEBHOOKS,
    records.AUDIT,
    records.COUNTS,
    shared.RESPONSES,
    shared.RECEIPTS,
    versions.WALK,
    memory.WINDOWS,
    memory.PASSES,
)
