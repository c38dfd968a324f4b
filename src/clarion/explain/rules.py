"""All codes of execution details, each with the rule that makes a decision of it; a test finds one that is missing."""

from clarion.explain import answers, branching, changing, events, reached, requests, sending, waiting
from clarion.explain.model import STEP_KINDS, Decision, DecisionKind, Verdict
from clarion.explain.observed import Observed, Rule, clicked, decide_always, give_up, note_attempt, replied, reported
from clarion.jobs.details import DetailCode, DetailStatus, code_of

_VERDICTS = {
    DetailStatus.SUCCESS: Verdict.PASSED,
    DetailStatus.WARNING: Verdict.PASSED,
    DetailStatus.READ_CONFIRMATION: Verdict.PASSED,
    DetailStatus.FAILED: Verdict.FAILED,
    DetailStatus.PENDING: Verdict.WAITING,
    DetailStatus.QUEUED: Verdict.WAITING,
}


def list_decisions(observed: Observed) -> list[Decision]:
    """The decisions that a detail tells of."""
    code = code_of(observed.detail)
    if code == DetailCode.STEP_QUEUED:
        return list(reached.list_passed(observed))
    return [RULES.get(code, decide_unknown)(observed)]


def decide_unknown(observed: Observed) -> Decision:
    """A detail that this version does not know is told as it is."""
    kind = STEP_KINDS.get(observed.job.type, DecisionKind.ATTEMPT)
    return observed.decision(kind, _VERDICTS[observed.detail.status], f"{observed.detail.detail}.")


RULES: dict[str | None, Rule] = {
    DetailCode.TOPIC_RULES: reached.refused_by_topic,
    DetailCode.CONDITIONS_REFUSED: reached.conditions_refused,
    DetailCode.WORKFLOW_FILTERED: reached.filtered,
    DetailCode.OVERRIDE_FILTERED: reached.filtered,
    DetailCode.SUBSCRIBER_FILTERED: reached.filtered,
    DetailCode.SUBSCRIBER_WORKFLOW_FILTERED: reached.filtered,
    DetailCode.OUTSIDE_SCHEDULE: reached.outside_schedule,
    DetailCode.EXTENDED_TO_SCHEDULE: reached.extended_to_schedule,
    DetailCode.DIGEST_STARTED: waiting.digest_started,
    DetailCode.DIGEST_MERGED: waiting.digest_merged,
    DetailCode.DIGEST_SKIPPED: waiting.digest_first,
    DetailCode.DIGEST_CLOSED: waiting.digest_closed,
    DetailCode.DIGEST_PROMOTED: waiting.digest_promoted,
    DetailCode.DIGEST_EXTENDED: waiting.digest_extended,
    DetailCode.DIGEST_LENGTH_INVALID: waiting.digest_length_invalid,
    DetailCode.VERSION_FOLLOWED: waiting.version_followed,
    DetailCode.VERSION_KEPT: waiting.version_kept,
    DetailCode.RUN_MOVED: waiting.run_moved,
    DetailCode.DIGEST_FLUSHED: decide_always(
        DecisionKind.DIGEST, Verdict.PASSED, "A request let the digest go on before its time (POST /v1/digests/flush)."
    ),
    DetailCode.DIGEST_AT_ONCE: waiting.digest_at_once,
    DetailCode.DELAYED: waiting.delayed,
    DetailCode.DELAY_OVER: waiting.delay_over,
    DetailCode.DELAY_OVERRIDE_IGNORED: decide_always(
        DecisionKind.DELAY,
        Verdict.PASSED,
        "`overrides.delay` of the trigger was ignored, since it is no length of time.",
        "Give an amount of at least 0 and a unit, such as hours.",
    ),
    DetailCode.DELAY_INVALID: waiting.badly_configured,
    DetailCode.THROTTLE_INVALID: waiting.badly_configured,
    DetailCode.DEFERRED_TOO_LONG: waiting.too_long,
    DetailCode.THROTTLED: waiting.throttled,
    DetailCode.RUN_THROTTLED: decide_always(
        DecisionKind.THROTTLE, Verdict.STOPPED, "A throttle step before this one ended the run."
    ),
    DetailCode.PATH_TAKEN: branching.path_taken,
    DetailCode.NO_PATH_TAKEN: branching.no_path_taken,
    DetailCode.RUN_ENDED: branching.run_ended,
    DetailCode.STEP_AFTER_END: decide_always(
        DecisionKind.EXIT, Verdict.STOPPED, "An exit step, or a wait in vain, ended the run."
    ),
    DetailCode.WORKFLOW_TRIGGERED: branching.workflow_triggered,
    DetailCode.WORKFLOW_NOT_TRIGGERED: branching.workflow_not_triggered,
    DetailCode.WAITS_FOR_EVENT: events.waits,
    DetailCode.EVENT_MATCHED: events.matched,
    DetailCode.WAIT_OVER: events.over,
    DetailCode.WAIT_INVALID: events.invalid,
    DetailCode.TOO_MANY_WAITS: events.too_many,
    DetailCode.QUESTION_ASKED: answers.asked,
    DetailCode.QUESTION_ANSWERED: answers.answered,
    DetailCode.QUESTION_OVER: answers.over,
    DetailCode.QUESTION_ESCALATED: answers.escalated,
    DetailCode.QUESTION_NOT_ESCALATED: answers.not_escalated,
    DetailCode.QUESTION_INVALID: answers.invalid,
    DetailCode.EARLIER_CHANGED: changing.earlier_changed,
    DetailCode.EARLIER_NOT_CHANGED: changing.earlier_not_changed,
    DetailCode.NOTHING_TO_CHANGE: changing.nothing_to_change,
    DetailCode.CHANGE_INVALID: changing.invalid,
    DetailCode.STEP_COMPLETED: waiting.completed,
    DetailCode.MESSAGE_CREATED: sending.content_made,
    DetailCode.CONTENT_FAILED: sending.content_failed,
    DetailCode.STEP_FAILED: sending.step_failed,
    DetailCode.TEXTS_MISSING: sending.texts_missing,
    DetailCode.LAYOUT_SELECTED: sending.layout_selected,
    DetailCode.LAYOUT_MISSING: sending.layout_missing,
    DetailCode.LINKS_LEFT_OUT: decide_always(
        DecisionKind.CONTENT,
        Verdict.PASSED,
        "Links that would run code in the page were left out of the message.",
        "Use links that begin with https.",
    ),
    DetailCode.ATTACHMENTS_LEFT_OUT: decide_always(
        DecisionKind.CONTENT,
        Verdict.PASSED,
        "Attachments without a file were left out.",
        "Give each a file: base64, a list of bytes or a Buffer.",
    ),
    DetailCode.REPLY_DOMAIN_MISSING: decide_always(
        DecisionKind.CONTENT,
        Verdict.PASSED,
        "The mail has no address for replies, because the environment has no domain for them.",
        "Set `replies.domain` of the environment, and let a provider receive its mail.",
    ),
    DetailCode.REPLY_URL_MISSING: note_attempt(
        Verdict.FAILED,
        "A reply was not posted, because the template of the reply callback made no URL from the payload.",
        "Correct `replyCallback.url` of the step, or what it takes from the payload.",
    ),
    DetailCode.OVERRIDES_IGNORED: decide_always(
        DecisionKind.CONTENT,
        Verdict.PASSED,
        "Some overrides of the trigger were ignored, because nothing reads them.",
        "Move them to where they are read.",
    ),
    DetailCode.EMAIL_MISSING: sending.address_missing,
    DetailCode.PHONE_MISSING: sending.address_missing,
    DetailCode.CHAT_MISSING: sending.address_missing,
    DetailCode.TOOL_MISSING: sending.address_missing,
    DetailCode.TOKENS_MISSING: sending.address_missing,
    DetailCode.CHANNEL_MISSING: sending.address_missing,
    DetailCode.WEBHOOK_MISSING: decide_always(
        DecisionKind.ADDRESS,
        Verdict.FAILED,
        "Neither {name} nor the integration has a webhook URL.",
        "Give the integration a webhook URL, or store one in the person's credentials.",
    ),
    DetailCode.ENDPOINT_DELETED: decide_always(
        DecisionKind.ADDRESS,
        Verdict.FAILED,
        "The channel endpoint of {name} that the message was for is gone.",
        "Create the endpoint again, and trigger again.",
    ),
    DetailCode.TOKEN_REMOVED: decide_always(
        DecisionKind.ADDRESS,
        Verdict.FAILED,
        "The provider said that a device token of {name} will never work again: it was removed.",
        "The app stores its new token with PUT /v1/subscribers/{subscriberId}/credentials.",
    ),
    DetailCode.EMAIL_SUPPRESSED: sending.suppressed,
    DetailCode.PHONE_SUPPRESSED: sending.suppressed,
    DetailCode.COPIES_SUPPRESSED: sending.copies_suppressed,
    DetailCode.UNSUBSCRIBED_BUT_CRITICAL: decide_always(
        DecisionKind.SUPPRESSION,
        Verdict.PASSED,
        "The owner of the address unsubscribed, but {workflow} was critical.",
    ),
    DetailCode.INTEGRATION_SELECTED: sending.integration_selected,
    DetailCode.INTEGRATION_MISSING: sending.integration_missing,
    DetailCode.WAITS_FOR_TURN: sending.waits_for_turn,
    DetailCode.WAITS_FOR_CONNECTION: decide_always(
        DecisionKind.INTEGRATION,
        Verdict.WAITING,
        "All connections to the provider were busy: it is tried again shortly, and no attempt is used up.",
    ),
    DetailCode.SENT: sending.sent,
    DetailCode.PROVIDER_FAILED: sending.attempt_failed,
    DetailCode.ATTEMPT_FAILED: sending.attempt_failed,
    DetailCode.UNCONFIRMED: sending.unconfirmed,
    DetailCode.POSSIBLY_DELIVERED: sending.unconfirmed,
    DetailCode.PUT_OFF_TOO_LONG: give_up(
        "The provider asked to come back later for too long.",
        "Add a second integration of the channel, or raise the limit at the provider",
    ),
    DetailCode.PARTLY_SENT: give_up(
        "Some messages of the step were given up, while others were sent.", "Correct what their providers said"
    ),
    DetailCode.RECIPIENTS_REFUSED: note_attempt(
        Verdict.FAILED, "The provider refused some of the recipients.", "Correct the addresses of the copies."
    ),
    DetailCode.DELETED_BEFORE_SENT: note_attempt(
        Verdict.STOPPED, "The message was deleted before it was sent.", "Trigger the workflow again."
    ),
    DetailCode.NOT_RECORDED: note_attempt(
        Verdict.FAILED, "The outcome of the attempt could not be recorded.", "The log of the worker says why."
    ),
    DetailCode.REDRIVEN: note_attempt(
        Verdict.WAITING, "The dead letter was put back into the queue with new attempts."
    ),
    DetailCode.DISCARDED: note_attempt(
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
    DetailCode.CLICKED: clicked,
    DetailCode.REPLIED: replied,
    DetailCode.OPENED_BY_MACHINE: reported(Verdict.PASSED, "a program loaded the message, which is no open"),
    DetailCode.CLICKED_BY_MACHINE: reported(Verdict.PASSED, "a program followed a link, which is no click"),
    DetailCode.REQUEST_PREPARED: requests.prepared,
    DetailCode.REQUEST_ANSWERED: requests.answered,
    DetailCode.REQUEST_FAILED: requests.failed,
    DetailCode.ANSWER_REFUSED: requests.answer_refused,
    DetailCode.ANSWER_UNFIT: requests.answer_unfit,
    DetailCode.WAITS_FOR_HOST: requests.waits_for_host,
    DetailCode.WAITS_FOR_SHARED: requests.waits_for_shared,
    DetailCode.ANSWER_SHARED: requests.answer_shared,
    DetailCode.MESSAGE_UPDATING: changing.under_way,
    DetailCode.MESSAGE_UPDATED: changing.done,
    DetailCode.MESSAGE_NOT_UPDATED: changing.not_done,
    DetailCode.MESSAGE_WITHDRAWING: changing.under_way,
    DetailCode.MESSAGE_WITHDRAWN: changing.done,
    DetailCode.MESSAGE_NOT_WITHDRAWN: changing.not_done,
    DetailCode.WITHDRAWN_BEFORE_SENT: decide_always(
        DecisionKind.CHANGE, Verdict.STOPPED, "The message was withdrawn before it was sent: nobody got it."
    ),
    DetailCode.CHANGE_FAILED: changing.refused,
    DetailCode.MESSAGE_DELETED: sending.deleted,
    DetailCode.CANCELED: sending.canceled,
    DetailCode.EXPIRED: sending.expired,
    DetailCode.CANCELED_BY_FAILURE: decide_always(
        DecisionKind.CANCEL,
        Verdict.STOPPED,
        "An earlier step failed, and that ended the run.",
        "Correct what made the earlier step fail. If it is set to stop the run when it fails, that can be switched "
        "off.",
    ),
}
