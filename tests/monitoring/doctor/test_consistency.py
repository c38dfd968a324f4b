"""Every column that names a row of another table is checked for orphans, or listed here with a reason."""

from clarion.db.schema import metadata
from clarion.monitoring.doctor.consistency import REFERENCES

NOT_CHECKED = {
    "digested_into": "the run that it was merged into may have expired",
    "deleted_by": "the key may be deleted",
    "deleted_at": "a moment",
    "leader_run_id": "the run of leader_id, which is checked",
    "step_id": "is part of a workflow version, and no row",
    "parent_id": "of environments, which are few",
    "organization_id": "of environments, which are few",
    "endpoint_id": "deliveries of deleted endpoints expire later",
    "integration_id": "may be deleted; messages keep it",
    "provider_id": "a word",
    "bot_id": "of Telegram",
    "resource_id": "of a workflow or a layout, which are deleted softly; what is deleted keeps its texts for runs",
    "variable_id": "of variables, which belong to the organization; their values are deleted with them",
    "provider_message_id": "of the provider",
    "workflow_id": "workflows are deleted softly",
    "message_id": "messages may be deleted by their person",
    "error_id": "a word",
    "target_id": "of the audit log, which outlives it",
    "actor_id": "of the audit log and of versions of workflows, which outlive it",
    "source_id": "what a version of a workflow was made from, which may be deleted",
    "request_id": "of a request",
    "host_id": "of processes",
    "throttle_id": "derived",
    "environment_id": "leads every key",
    "transaction_id": "of the caller",
    "creator_id": "of topics, which outlive the person who made them",
    "member_id": "of members, who belong to no environment; their sessions are deleted with them",
}
# These rows may outlive their run.
KEPT_LONGER = {
    ("messages", "notification_id"),
    ("digest_events", "trigger_id"),
    ("http_answers", "job_id"),
    ("http_answers", "step_id"),
    ("throttle_passes", "job_id"),
    ("throttle_passes", "subscriber_id"),
    ("digest_windows", "subscriber_id"),
    ("online_people", "subscriber_id"),
    ("trigger_attachments", "trigger_id"),
    ("triggers", "version_id"),
    ("webhook_event_people", "subscriber_id"),
    ("erasures", "subscriber_id"),
    ("emitted_events", "subscriber_id"),
    ("emitted_events", "topic_id"),
    ("answers", "notification_id"),
    ("answers", "subscriber_id"),
    ("answers", "step_id"),
    ("event_waits", "job_id"),
    ("event_waits", "subscriber_id"),
}


def test_every_reference_between_tables_is_checked_or_listed_with_a_reason() -> None:
    checked = {(one.table, one.column) for one in REFERENCES}
    columns = {
        (table.name, column.name)
        for table in metadata.tables.values()
        for column in table.columns
        if column.name.endswith("_id") and column.name not in NOT_CHECKED
    }

    assert sorted(columns - checked - KEPT_LONGER) == []
