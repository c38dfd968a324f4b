"""Execution details: what happened to a job and why, kept as a JSON array in the job's row."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Self

import msgspec
from msgspec import Struct

from clarion.clock import Millis
from clarion.ids import JobId, id_text


class DetailStatus(StrEnum):
    SUCCESS = "Success"
    WARNING = "Warning"
    FAILED = "Failed"
    PENDING = "Pending"
    QUEUED = "Queued"
    READ_CONFIRMATION = "ReadConfirmation"


class DetailSource(StrEnum):
    CREDENTIALS = "Credentials"
    INTERNAL = "Internal"
    PAYLOAD = "Payload"
    WEBHOOK = "Webhook"


class DetailCode(StrEnum):
    """All that can happen to a job: the code that is stored, the status, and the text that the API shows."""

    status: DetailStatus
    text: str

    def __new__(cls, value: str, status: DetailStatus, text: str) -> Self:
        code = str.__new__(cls, value)
        code._value_, code.status, code.text = value, status, text
        return code

    # A step is reached, and a rule refuses it.
    STEP_QUEUED = "step_queued", DetailStatus.PENDING, "Step queued"
    TOPIC_RULES = "topic_rules", DetailStatus.SUCCESS, "Topic subscription preference evaluated"
    CONDITIONS_REFUSED = "conditions_refused", DetailStatus.SUCCESS, "Step was skipped based on steps conditions"
    WORKFLOW_FILTERED = "workflow_filtered", DetailStatus.SUCCESS, "Step filtered by workflow preferences"
    OVERRIDE_FILTERED = "override_filtered", DetailStatus.SUCCESS, "Step filtered by user preferences"
    SUBSCRIBER_FILTERED = (
        "subscriber_filtered",
        DetailStatus.SUCCESS,
        "Step filtered by subscriber global preferences",
    )
    SUBSCRIBER_WORKFLOW_FILTERED = (
        "subscriber_workflow_filtered",
        DetailStatus.SUCCESS,
        "Step filtered by subscriber workflow preferences",
    )
    OUTSIDE_SCHEDULE = (
        "outside_schedule",
        DetailStatus.SUCCESS,
        "The step was skipped as it fell outside the subscriber's schedule",
    )

    # It waits, or it is done.
    EXTENDED_TO_SCHEDULE = (
        "extended_to_schedule",
        DetailStatus.PENDING,
        "Step was extended to the subscriber's schedule",
    )
    DIGEST_STARTED = "digest_started", DetailStatus.PENDING, "Start digesting"
    DIGEST_MERGED = "digest_merged", DetailStatus.SUCCESS, "Digest was merged with other digest"
    DIGEST_SKIPPED = "digest_skipped", DetailStatus.SUCCESS, "Digest was skipped, first backoff event"
    DIGEST_CLOSED = "digest_closed", DetailStatus.SUCCESS, "Digest triggered events"
    DIGEST_PROMOTED = "digest_promoted", DetailStatus.PENDING, "Digest took the place of its leader"
    DELAYED = "delayed", DetailStatus.PENDING, "Step delayed"
    DELAY_OVER = "delay_over", DetailStatus.SUCCESS, "Delay is finished"
    DELAY_OVERRIDE_IGNORED = "delay_override_ignored", DetailStatus.WARNING, "Delay override was ignored"
    DELAY_INVALID = "delay_invalid", DetailStatus.FAILED, "Invalid delay configuration"
    THROTTLE_INVALID = "throttle_invalid", DetailStatus.FAILED, "Invalid throttle configuration"
    DEFERRED_TOO_LONG = "deferred_too_long", DetailStatus.FAILED, "Defer duration limit exceeded"
    THROTTLED = "throttled", DetailStatus.SUCCESS, "Step was throttled: limit exceeded"
    RUN_THROTTLED = "run_throttled", DetailStatus.SUCCESS, "Step was skipped because the run was throttled"
    PATH_TAKEN = "path_taken", DetailStatus.SUCCESS, "A path of the branch was taken"
    NO_PATH_TAKEN = "no_path_taken", DetailStatus.SUCCESS, "No path of the branch was taken"
    RUN_ENDED = "run_ended", DetailStatus.SUCCESS, "The run ended here"
    STEP_AFTER_END = "step_after_end", DetailStatus.SUCCESS, "Step was skipped because the run ended before it"
    WORKFLOW_TRIGGERED = "workflow_triggered", DetailStatus.SUCCESS, "Another workflow was triggered"
    WORKFLOW_NOT_TRIGGERED = "workflow_not_triggered", DetailStatus.FAILED, "The other workflow could not be triggered"
    WAITS_FOR_EVENT = "waits_for_event", DetailStatus.PENDING, "Waiting for an event"
    EVENT_MATCHED = "event_matched", DetailStatus.SUCCESS, "The event came"
    WAIT_OVER = "wait_over", DetailStatus.SUCCESS, "The event did not come in time"
    WAIT_INVALID = "wait_invalid", DetailStatus.FAILED, "Invalid configuration of a step that waits for an event"
    TOO_MANY_WAITS = "too_many_waits", DetailStatus.FAILED, "Too many steps wait for the subscriber"
    QUESTION_ASKED = "question_asked", DetailStatus.PENDING, "Waiting for an answer"
    QUESTION_ANSWERED = "question_answered", DetailStatus.SUCCESS, "The question was answered"
    QUESTION_OVER = "question_over", DetailStatus.SUCCESS, "Nobody answered the question in time"
    QUESTION_ESCALATED = (
        "question_escalated",
        DetailStatus.PENDING,
        "Nobody answered for a while, and others were asked",
    )
    QUESTION_NOT_ESCALATED = (
        "question_not_escalated",
        DetailStatus.WARNING,
        "Nobody answered for a while, and others could not be asked",
    )
    QUESTION_INVALID = "question_invalid", DetailStatus.FAILED, "Invalid configuration of a step that asks a question"
    STEP_COMPLETED = "step_completed", DetailStatus.SUCCESS, "Step completed"

    # Its content is rendered.
    MESSAGE_CREATED = "message_created", DetailStatus.PENDING, "Message created"
    CONTENT_FAILED = "content_failed", DetailStatus.FAILED, "Message content could not be generated"
    STEP_FAILED = (
        "step_failed",
        DetailStatus.FAILED,
        "There was one or more errors when trying to execute the notification",
    )
    LAYOUT_SELECTED = "layout_selected", DetailStatus.PENDING, "Layout selected"
    LAYOUT_MISSING = "layout_missing", DetailStatus.FAILED, "Layout not found"
    LINKS_LEFT_OUT = "links_left_out", DetailStatus.WARNING, "Links were left out of the message"
    TEXTS_MISSING = "texts_missing", DetailStatus.WARNING, "Translated texts were missing, and their keys were shown"
    ATTACHMENTS_LEFT_OUT = "attachments_left_out", DetailStatus.WARNING, "Attachments without a file were left out"
    REPLY_DOMAIN_MISSING = (
        "reply_domain_missing",
        DetailStatus.WARNING,
        "Inbound mail - Missing MX route domain configuration",
    )
    REPLY_URL_MISSING = "reply_url_missing", DetailStatus.WARNING, "Inbound mail - Missing replay callback URL"
    OVERRIDES_IGNORED = "overrides_ignored", DetailStatus.WARNING, "Overrides were ignored"

    # It needs an address that may be written to.
    EMAIL_MISSING = "email_missing", DetailStatus.FAILED, "Subscriber missing email address"
    PHONE_MISSING = "phone_missing", DetailStatus.FAILED, "Subscriber missing phone number"
    TOOL_MISSING = "tool_missing", DetailStatus.FAILED, "Subscriber has no channel endpoint of a tool"
    CHAT_MISSING = "chat_missing", DetailStatus.FAILED, "Webhook URL for the chat channel is missing"
    TOKENS_MISSING = (
        "tokens_missing",
        DetailStatus.FAILED,
        "Subscriber credentials is missing the tokens for sending a push notification message",
    )
    CHANNEL_MISSING = "channel_missing", DetailStatus.FAILED, "Subscriber does not have a configured channel"
    WEBHOOK_MISSING = (
        "webhook_missing",
        DetailStatus.WARNING,
        "Neither the subscriber nor the integration has a webhook URL",
    )
    ENDPOINT_DELETED = (
        "endpoint_deleted",
        DetailStatus.WARNING,
        "The channel endpoint was deleted before the message was sent, or its stored address cannot be opened",
    )
    TOKEN_REMOVED = "token_removed", DetailStatus.WARNING, "Invalid push device token was removed from subscriber"
    EMAIL_SUPPRESSED = "email_suppressed", DetailStatus.FAILED, "Subscriber's email address is suppressed"
    PHONE_SUPPRESSED = "phone_suppressed", DetailStatus.FAILED, "Subscriber's phone number is suppressed"
    COPIES_SUPPRESSED = "copies_suppressed", DetailStatus.WARNING, "Suppressed addresses were left out"
    UNSUBSCRIBED_BUT_CRITICAL = (
        "unsubscribed_but_critical",
        DetailStatus.PENDING,
        "Address unsubscribed, but the workflow is critical",
    )
    ADDRESS_SUPPRESSED = "address_suppressed", DetailStatus.WARNING, "Address was suppressed"

    # It goes through an integration.
    INTEGRATION_SELECTED = "integration_selected", DetailStatus.PENDING, "Integration instance selected"
    INTEGRATION_MISSING = (
        "integration_missing",
        DetailStatus.FAILED,
        "Subscriber does not have an active integration",
    )
    WAITS_FOR_TURN = "waits_for_turn", DetailStatus.PENDING, "Waits for its turn at the integration"
    WAITS_FOR_CONNECTION = "waits_for_connection", DetailStatus.PENDING, "Waits for a free connection"
    SENT = "sent", DetailStatus.SUCCESS, "Message sent"
    PROVIDER_FAILED = "provider_failed", DetailStatus.FAILED, "Unexpected provider error"
    ATTEMPT_FAILED = "attempt_failed", DetailStatus.FAILED, "Unexpected error"
    UNCONFIRMED = "unconfirmed", DetailStatus.FAILED, "Unconfirmed by the provider, which knows a second try"
    POSSIBLY_DELIVERED = "possibly_delivered", DetailStatus.FAILED, "Possibly delivered"
    PUT_OFF_TOO_LONG = "put_off_too_long", DetailStatus.FAILED, "Put off by the provider for too long"
    PARTLY_SENT = "partly_sent", DetailStatus.WARNING, "Some messages of the step were not sent"
    RECIPIENTS_REFUSED = "recipients_refused", DetailStatus.WARNING, "The provider refused some of the recipients"
    DELETED_BEFORE_SENT = "deleted_before_sent", DetailStatus.FAILED, "The message was deleted before it was sent"
    NOT_RECORDED = "not_recorded", DetailStatus.FAILED, "The outcome could not be recorded"
    REDRIVEN = "redriven", DetailStatus.PENDING, "Redriven"
    DISCARDED = "discarded", DetailStatus.FAILED, "Discarded"

    # The provider reports what became of it.
    REPORTED_SENT = "reported_sent", DetailStatus.PENDING, "Message sent by the provider"
    DELIVERED = "delivered", DetailStatus.SUCCESS, "Message delivered"
    REPORTED_DEFERRED = "reported_deferred", DetailStatus.WARNING, "Message deferred"
    BOUNCED = "bounced", DetailStatus.FAILED, "Message bounced"
    BOUNCED_HARD = "bounced_hard", DetailStatus.FAILED, "Message bounced"
    BOUNCED_SOFT = "bounced_soft", DetailStatus.FAILED, "Message bounced"
    REPORTED_FAILED = "reported_failed", DetailStatus.FAILED, "Message failed"
    COMPLAINED = "complained", DetailStatus.WARNING, "Message complaint"
    UNSUBSCRIBED = "unsubscribed", DetailStatus.WARNING, "Message unsubscribed"
    OPENED = "opened", DetailStatus.READ_CONFIRMATION, "Message opened"
    CLICKED = "clicked", DetailStatus.READ_CONFIRMATION, "Message clicked"
    REPLIED = "replied", DetailStatus.READ_CONFIRMATION, "Message replied to"
    OPENED_BY_MACHINE = "opened_by_machine", DetailStatus.SUCCESS, "Message loaded by a program, not counted as opened"
    CLICKED_BY_MACHINE = "clicked_by_machine", DetailStatus.SUCCESS, "Link followed by a program, not counted"

    # It calls a URL.
    REQUEST_PREPARED = "request_prepared", DetailStatus.PENDING, "HTTP request prepared"
    REQUEST_ANSWERED = "request_answered", DetailStatus.SUCCESS, "HTTP request answered"
    REQUEST_FAILED = "request_failed", DetailStatus.FAILED, "Action step execution failed"
    ANSWER_REFUSED = "answer_refused", DetailStatus.FAILED, "Response body schema validation failed"
    ANSWER_UNFIT = "answer_unfit", DetailStatus.WARNING, "Response body does not fit its schema"
    WAITS_FOR_SHARED = "waits_for_shared", DetailStatus.PENDING, "Waits for the request that the trigger's runs share"
    ANSWER_SHARED = "answer_shared", DetailStatus.SUCCESS, "The answer that the trigger's runs share was used"
    WAITS_FOR_HOST = "waits_for_host", DetailStatus.PENDING, "Waits for the host of the HTTP request"

    # It is changed after it was made.
    MESSAGE_UPDATING = "message_updating", DetailStatus.PENDING, "Message is being changed at its provider"
    MESSAGE_UPDATED = "message_updated", DetailStatus.SUCCESS, "Message was changed"
    MESSAGE_NOT_UPDATED = "message_not_updated", DetailStatus.WARNING, "Message could not be changed"
    MESSAGE_WITHDRAWING = "message_withdrawing", DetailStatus.PENDING, "Message is being taken back at its provider"
    MESSAGE_WITHDRAWN = "message_withdrawn", DetailStatus.SUCCESS, "Message was withdrawn"
    MESSAGE_NOT_WITHDRAWN = "message_not_withdrawn", DetailStatus.WARNING, "Message could not be withdrawn"
    WITHDRAWN_BEFORE_SENT = (
        "withdrawn_before_sent",
        DetailStatus.SUCCESS,
        "The message was withdrawn before it was sent",
    )
    CHANGE_FAILED = "change_failed", DetailStatus.WARNING, "The provider did not take the change of the message"

    EARLIER_CHANGED = "earlier_changed", DetailStatus.SUCCESS, "Messages of an earlier step were changed"
    EARLIER_NOT_CHANGED = (
        "earlier_not_changed",
        DetailStatus.WARNING,
        "Messages of an earlier step could not be changed",
    )
    NOTHING_TO_CHANGE = "nothing_to_change", DetailStatus.SUCCESS, "There was no message to change"
    CHANGE_INVALID = "change_invalid", DetailStatus.FAILED, "The step does not say whose messages it changes"

    # It ends in another way.
    MESSAGE_DELETED = "message_deleted", DetailStatus.SUCCESS, "Message was deleted"
    CANCELED = "canceled", DetailStatus.SUCCESS, "Step canceled"
    EXPIRED = "expired", DetailStatus.SUCCESS, "Step was not done before the trigger expired"
    CANCELED_BY_FAILURE = (
        "canceled_by_failure",
        DetailStatus.SUCCESS,
        "Step was canceled because a previous step failed",
    )
    DIGEST_EXTENDED = "digest_extended", DetailStatus.PENDING, "Digest was extended by further events"
    DIGEST_LENGTH_INVALID = "digest_length_invalid", DetailStatus.WARNING, "Digest length is missing or invalid"
    VERSION_FOLLOWED = "version_followed", DetailStatus.SUCCESS, "Run goes on with the latest version of the workflow"
    VERSION_KEPT = "version_kept", DetailStatus.SUCCESS, "Run goes on with the version that it started with"
    RUN_MOVED = "run_moved", DetailStatus.SUCCESS, "Run goes on with another version of the workflow, as was asked for"
    DIGEST_FLUSHED = "digest_flushed", DetailStatus.PENDING, "Digest was let go on before its time"
    DIGEST_AT_ONCE = "digest_at_once", DetailStatus.SUCCESS, "Digest was skipped, the event went on at once"


class ExecutionDetail(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One decision or outcome of a job; `raw` is any JSON value that explains it."""

    id: str = ""
    """Not stored: derived from the detail's position when it is read. Details are only ever appended."""
    at: Millis
    status: DetailStatus
    detail: str
    code: str | None = None
    """A DetailCode, or one of a later version; None where a detail was stored before there were codes."""
    source: DetailSource = DetailSource.INTERNAL
    is_retry: bool = False
    is_test: bool = False
    provider_id: str | None = None
    raw: Any = None

    @classmethod
    def of(
        cls,
        code: DetailCode,
        at: Millis,
        *,
        source: DetailSource = DetailSource.INTERNAL,
        is_retry: bool = False,
        provider_id: str | None = None,
        raw: Any = None,
    ) -> Self:
        """A detail with the status and the text of its code."""
        return cls(
            at=at,
            status=code.status,
            detail=code.text,
            code=code,
            source=source,
            is_retry=is_retry,
            provider_id=provider_id,
            raw=raw,
        )


_CODES_BY_TEXT = {code.text: code for code in reversed(DetailCode)}
"""Of codes with the same text the first, which says least."""

decode_details = msgspec.json.Decoder(list[ExecutionDetail]).decode

APPENDED_DETAIL = """
    CASE WHEN details = '[]' THEN '[' ELSE substr(details, 1, length(details) - 1) || ',' END || :detail || ']'
"""
"""SQL: the details of a job with `:detail` appended, for updates of many jobs at once."""


def read_details(job_id: JobId, text: str) -> list[ExecutionDetail]:
    """The details of a job in time order, each with its id."""
    details = [
        detail if detail.id else msgspec.structs.replace(detail, id=_detail_id(job_id, place))
        for place, detail in enumerate(decode_details(text), start=1)
    ]
    return in_time_order(details)


def canceled_detail(now: Millis) -> ExecutionDetail:
    """Why a job is canceled by its caller."""
    return ExecutionDetail.of(DetailCode.CANCELED, now, raw={"reason": "canceled by the caller"})


def expired_detail(expires_at: Millis | None, now: Millis) -> ExecutionDetail:
    """Why a job is canceled that had not begun when its trigger expired."""
    return ExecutionDetail.of(DetailCode.EXPIRED, now, raw={"expiresAt": expires_at})


def code_of(detail: ExecutionDetail) -> str | None:
    """The code of a detail; that of its text if it was stored before there were codes."""
    return detail.code or _CODES_BY_TEXT.get(detail.detail)


def in_time_order(details: Iterable[ExecutionDetail]) -> list[ExecutionDetail]:
    """Details by their moment; those of one moment keep the order in which they were written."""
    return sorted(details, key=lambda one: one.at)


def _detail_id(job_id: JobId, place: int) -> str:
    """A stable id: the job's id plus the position."""
    return id_text((int.from_bytes(job_id) + place).to_bytes(16))
