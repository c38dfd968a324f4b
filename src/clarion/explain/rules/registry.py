"""All codes of execution details, each with the rule that makes decisions of it; a test finds one that is missing."""

from clarion.explain.model import Decision, DecisionKind, Verdict
from clarion.explain.rules import conditions, preferences, receipts, sending, waiting
from clarion.explain.rules.receipts import reported
from clarion.explain.rules.seen import Rule, Seen
from clarion.explain.rules.sending import attempt_noted, left_out, not_sent
from clarion.jobs.details import DetailCode, DetailStatus, code_of
from clarion.vocabulary import StepType

_VERDICTS = {
    DetailStatus.SUCCESS: Verdict.PASSED,
    DetailStatus.WARNING: Verdict.PASSED,
    DetailStatus.READ_CONFIRMATION: Verdict.PASSED,
    DetailStatus.FAILED: Verdict.FAILED,
    DetailStatus.PENDING: Verdict.WAITING,
    DetailStatus.QUEUED: Verdict.WAITING,
}
_UNKNOWN_KINDS = {
    StepType.DIGEST: DecisionKind.DIGEST,
    StepType.DELAY: DecisionKind.DELAY,
    StepType.THROTTLE: DecisionKind.THROTTLE,
    StepType.CUSTOM: DecisionKind.CONTENT,
}


def reached(seen: Seen) -> list[Decision]:
    """What the step was asked for when it was reached, as far as that stood nothing in the way."""
    refusal = _find_refusal(seen)
    decisions = conditions.passed(seen, is_reached=refusal is not DecisionKind.CONDITION)
    if refusal is not DecisionKind.CONDITION and refusal is not DecisionKind.PREFERENCE:
        decisions += preferences.passed(seen)
    if refusal is None:
        decisions += preferences.inside_schedule(seen)
    return decisions


def _find_refusal(seen: Seen) -> DecisionKind | None:
    """Which rule refused the step just after it was reached, if one did."""
    details = seen.job.details
    place = next((place for place, one in enumerate(details) if one is seen.detail), len(details))
    for later in details[place + 1 :]:
        if later.at != seen.at or code_of(later) == DetailCode.STEP_QUEUED:
            break
        for kind, codes in _REFUSALS.items():
            if code_of(later) in codes:
                return kind
    return None


def decide(seen: Seen) -> list[Decision]:
    """The decisions that a detail tells of."""
    return RULES.get(code_of(seen.detail), decide_unknown)(seen)


def _complete(seen: Seen) -> list[Decision]:
    return waiting.throttle_passed(seen) if seen.job.type is StepType.THROTTLE else sending.step_completed(seen)


def decide_unknown(seen: Seen) -> list[Decision]:
    """A detail that this version does not know is told as it is."""
    kind = _UNKNOWN_KINDS.get(seen.job.type, DecisionKind.ATTEMPT)
    return [seen.decision(kind, _VERDICTS[seen.detail.status], f"{seen.detail.detail}.", values=seen.raw)]


RULES: dict[str | None, Rule] = {
    DetailCode.STEP_QUEUED: reached,
    DetailCode.TOPIC_RULES: preferences.topic_rules,
    DetailCode.CONDITIONS_REFUSED: conditions.refused,
    DetailCode.WORKFLOW_FILTERED: preferences.filtered,
    DetailCode.OVERRIDE_FILTERED: preferences.filtered,
    DetailCode.SUBSCRIBER_FILTERED: preferences.filtered,
    DetailCode.SUBSCRIBER_WORKFLOW_FILTERED: preferences.filtered,
    DetailCode.OUTSIDE_SCHEDULE: preferences.outside_schedule,
    DetailCode.EXTENDED_TO_SCHEDULE: preferences.extended,
    DetailCode.DIGEST_STARTED: waiting.digest_started,
    DetailCode.DIGEST_MERGED: waiting.digest_merged,
    DetailCode.DIGEST_SKIPPED: waiting.digest_first,
    DetailCode.DIGEST_CLOSED: waiting.digest_closed,
    DetailCode.DIGEST_PROMOTED: waiting.digest_promoted,
    DetailCode.DELAYED: waiting.delayed,
    DetailCode.DELAY_OVER: waiting.delay_over,
    DetailCode.DELAY_OVERRIDE_IGNORED: waiting.delay_override_ignored,
    DetailCode.DELAY_INVALID: waiting.badly_configured,
    DetailCode.THROTTLE_INVALID: waiting.badly_configured,
    DetailCode.DEFERRED_TOO_LONG: waiting.too_long,
    DetailCode.THROTTLED: waiting.throttled,
    DetailCode.RUN_THROTTLED: waiting.throttled,
    DetailCode.STEP_COMPLETED: _complete,
    DetailCode.MESSAGE_CREATED: sending.content_made,
    DetailCode.CONTENT_FAILED: sending.content_failed,
    DetailCode.STEP_FAILED: sending.step_failed,
    DetailCode.LINKS_LEFT_OUT: left_out(
        "Links that would run code in the page were left out of the message.", "Use links that begin with https."
    ),
    DetailCode.ATTACHMENTS_LEFT_OUT: left_out(
        "Attachments without a file were left out.", "Give each a file: base64, a list of bytes or a Buffer."
    ),
    DetailCode.OVERRIDES_IGNORED: left_out(
        "Some overrides of the trigger were ignored, because nothing reads them.", "Move them to where they are read."
    ),
    DetailCode.EMAIL_MISSING: sending.address_missing,
    DetailCode.PHONE_MISSING: sending.address_missing,
    DetailCode.CHAT_MISSING: sending.address_missing,
    DetailCode.TOKENS_MISSING: sending.address_missing,
    DetailCode.CHANNEL_MISSING: sending.address_missing,
    DetailCode.WEBHOOK_MISSING: sending.webhook_missing,
    DetailCode.TOKEN_REMOVED: sending.token_removed,
    DetailCode.EMAIL_SUPPRESSED: sending.suppressed,
    DetailCode.PHONE_SUPPRESSED: sending.suppressed,
    DetailCode.COPIES_SUPPRESSED: sending.copies_suppressed,
    DetailCode.UNSUBSCRIBED_BUT_CRITICAL: sending.unsubscribed_but_critical,
    DetailCode.INTEGRATION_SELECTED: sending.integration_selected,
    DetailCode.INTEGRATION_MISSING: sending.integration_missing,
    DetailCode.WAITS_FOR_TURN: sending.waits_for_turn,
    DetailCode.WAITS_FOR_CONNECTION: sending.waits_for_connection,
    DetailCode.SENT: sending.sent,
    DetailCode.PROVIDER_FAILED: sending.attempt_failed,
    DetailCode.ATTEMPT_FAILED: sending.attempt_failed,
    DetailCode.UNCONFIRMED: sending.unconfirmed,
    DetailCode.POSSIBLY_DELIVERED: sending.unconfirmed,
    DetailCode.PUT_OFF_TOO_LONG: not_sent(
        "The provider asked to come back later for too long.",
        "Add a second integration of the channel, or raise the limit at the provider",
    ),
    DetailCode.PARTLY_SENT: not_sent(
        "Some messages of the step were given up, while others were sent.", "Correct what their providers said"
    ),
    DetailCode.RECIPIENTS_REFUSED: attempt_noted(
        Verdict.FAILED, "The provider refused some of the recipients.", "Correct the addresses of the copies."
    ),
    DetailCode.DELETED_BEFORE_SENT: attempt_noted(
        Verdict.STOPPED, "The message was deleted before it was sent.", "Trigger the workflow again."
    ),
    DetailCode.NOT_RECORDED: attempt_noted(
        Verdict.FAILED, "The outcome of the attempt could not be recorded.", "The log of the worker says why."
    ),
    DetailCode.REDRIVEN: attempt_noted(
        Verdict.WAITING, "The dead letter was put back into the queue with new attempts."
    ),
    DetailCode.DISCARDED: attempt_noted(
        Verdict.STOPPED, "The dead letter was discarded: it is not tried again.", "Trigger the workflow again."
    ),
    DetailCode.REPORTED_SENT: reported(Verdict.PASSED, "it sent the message on"),
    DetailCode.DELIVERED: reported(Verdict.PASSED, "the message arrived"),
    DetailCode.REPORTED_DEFERRED: reported(Verdict.WAITING, "the receiving server wants the message later"),
    DetailCode.BOUNCED: reported(
        Verdict.FAILED,
        "the message bounced; whether for good was not recorded",
        "A correct address. GET /v1/suppressions tells whether it is suppressed.",
    ),
    DetailCode.BOUNCED_HARD: reported(Verdict.FAILED, "the message bounced for good", "A correct address."),
    DetailCode.BOUNCED_SOFT: reported(
        Verdict.FAILED,
        "the message bounced, but may arrive another time",
        "What the report says is wrong, such as a full mailbox. The address is not suppressed.",
    ),
    DetailCode.REPORTED_FAILED: reported(
        Verdict.FAILED, "the message was not delivered", "What the report says is wrong."
    ),
    DetailCode.COMPLAINED: reported(Verdict.STOPPED, "its receiver complained about the message"),
    DetailCode.UNSUBSCRIBED: reported(Verdict.STOPPED, "its receiver unsubscribed"),
    DetailCode.ADDRESS_SUPPRESSED: sending.address_suppressed,
    DetailCode.OPENED: reported(Verdict.PASSED, "the message was opened"),
    DetailCode.CLICKED: reported(Verdict.PASSED, "a link of the message was clicked"),
    DetailCode.MESSAGE_DELETED: receipts.deleted,
    DetailCode.CANCELED: receipts.canceled,
    DetailCode.CANCELED_BY_FAILURE: receipts.stopped_by_failure,
}

_REFUSALS = {
    DecisionKind.CONDITION: {code for code, rule in RULES.items() if rule is conditions.refused},
    DecisionKind.PREFERENCE: {code for code, rule in RULES.items() if rule is preferences.filtered},
    DecisionKind.SCHEDULE: {code for code, rule in RULES.items() if rule is preferences.outside_schedule},
}
