"""All texts of execution details, each with the rule that makes decisions of it; a test finds one that is missing."""

from clarion.explain.model import Decision, DecisionKind, Verdict
from clarion.explain.rules import conditions, preferences, receipts, sending, waiting
from clarion.explain.rules.receipts import reported
from clarion.explain.rules.seen import Rule, Seen
from clarion.explain.rules.sending import attempt_noted, left_out, not_sent
from clarion.jobs.details import MESSAGE_DELETED, DetailCode, DetailStatus
from clarion.vocabulary import StepType

REACHED = "Step queued"
"""The step was reached: its conditions, the person's preferences and their schedule were asked."""

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
        if later.at != seen.at or later.detail == REACHED:
            break
        for kind, texts in _REFUSALS.items():
            if later.detail in texts:
                return kind
    return None


def decide(seen: Seen) -> list[Decision]:
    """The decisions that a detail tells of."""
    rule = CODES.get(seen.detail.code) or RULES.get(seen.detail.detail, decide_unknown)
    return rule(seen)


def _complete(seen: Seen) -> list[Decision]:
    return waiting.throttle_passed(seen) if seen.job.type is StepType.THROTTLE else sending.step_completed(seen)


def decide_unknown(seen: Seen) -> list[Decision]:
    """A detail that this version does not know is told as it is."""
    kind = _UNKNOWN_KINDS.get(seen.job.type, DecisionKind.ATTEMPT)
    return [seen.decision(kind, _VERDICTS[seen.detail.status], f"{seen.detail.detail}.", values=seen.raw)]


RULES: dict[str, Rule] = {
    REACHED: reached,
    "Topic subscription preference evaluated": preferences.topic_rules,
    "Step was skipped based on steps conditions": conditions.refused,
    "Step filtered by workflow preferences": preferences.filtered,
    "Step filtered by user preferences": preferences.filtered,
    "Step filtered by subscriber global preferences": preferences.filtered,
    "Step filtered by subscriber workflow preferences": preferences.filtered,
    "The step was skipped as it fell outside the subscriber's schedule": preferences.outside_schedule,
    "Step was extended to the subscriber's schedule": preferences.extended,
    "Start digesting": waiting.digest_started,
    "Digest was merged with other digest": waiting.digest_merged,
    "Digest was skipped, first backoff event": waiting.digest_first,
    "Digest triggered events": waiting.digest_closed,
    "Digest took the place of its leader": waiting.digest_promoted,
    "Step delayed": waiting.delayed,
    "Delay is finished": waiting.delay_over,
    "Delay override was ignored": waiting.delay_override_ignored,
    "Invalid delay configuration": waiting.badly_configured,
    "Invalid throttle configuration": waiting.badly_configured,
    "Defer duration limit exceeded": waiting.too_long,
    "Step was throttled: limit exceeded": waiting.throttled,
    "Step was skipped because the run was throttled": waiting.throttled,
    "Step completed": _complete,
    "Message created": sending.content_made,
    "Message content could not be generated": sending.content_failed,
    "There was one or more errors when trying to execute the notification": sending.step_failed,
    "Links were left out of the message": left_out(
        "Links that would run code in the page were left out of the message.", "Use links that begin with https."
    ),
    "Attachments without a file were left out": left_out(
        "Attachments without a file were left out.", "Give each a file: base64, a list of bytes or a Buffer."
    ),
    "Overrides were ignored": left_out(
        "Some overrides of the trigger were ignored, because nothing reads them.", "Move them to where they are read."
    ),
    "Subscriber missing email address": sending.address_missing,
    "Subscriber missing phone number": sending.address_missing,
    "Webhook URL for the chat channel is missing": sending.address_missing,
    "Subscriber credentials is missing the tokens for sending a push notification message": sending.address_missing,
    "Subscriber does not have a configured channel": sending.address_missing,
    "Neither the subscriber nor the integration has a webhook URL": sending.webhook_missing,
    "Invalid push device token was removed from subscriber": sending.token_removed,
    "Subscriber's email address is suppressed": sending.suppressed,
    "Subscriber's phone number is suppressed": sending.suppressed,
    "Suppressed addresses were left out": sending.copies_suppressed,
    "Address unsubscribed, but the workflow is critical": sending.unsubscribed_but_critical,
    "Integration instance selected": sending.integration_selected,
    "Subscriber does not have an active integration": sending.integration_missing,
    "Waits for its turn at the integration": sending.waits_for_turn,
    "Waits for a free connection": sending.waits_for_connection,
    "Message sent": sending.sent,
    "Unexpected provider error": sending.attempt_failed,
    "Unexpected error": sending.attempt_failed,
    "Unconfirmed by the provider, which knows a second try": sending.unconfirmed,
    "Possibly delivered": sending.unconfirmed,
    "Put off by the provider for too long": not_sent(
        "The provider asked to come back later for too long.",
        "Add a second integration of the channel, or raise the limit at the provider",
    ),
    "Some messages of the step were not sent": not_sent(
        "Some messages of the step were given up, while others were sent.", "Correct what their providers said"
    ),
    "The provider refused some of the recipients": attempt_noted(
        Verdict.FAILED, "The provider refused some of the recipients.", "Correct the addresses of the copies."
    ),
    "The message was deleted before it was sent": attempt_noted(
        Verdict.STOPPED, "The message was deleted before it was sent.", "Trigger the workflow again."
    ),
    "The outcome could not be recorded": attempt_noted(
        Verdict.FAILED, "The outcome of the attempt could not be recorded.", "The log of the worker says why."
    ),
    "Redriven": attempt_noted(Verdict.WAITING, "The dead letter was put back into the queue with new attempts."),
    "Discarded": attempt_noted(
        Verdict.STOPPED, "The dead letter was discarded: it is not tried again.", "Trigger the workflow again."
    ),
    "Message sent by the provider": reported(Verdict.PASSED, "it sent the message on"),
    "Message delivered": reported(Verdict.PASSED, "the message arrived"),
    "Message deferred": reported(Verdict.WAITING, "the receiving server wants the message later"),
    "Message bounced": reported(
        Verdict.FAILED,
        "the message bounced; whether for good was not recorded",
        "A correct address. GET /v1/suppressions tells whether it is suppressed.",
    ),
    "Message failed": reported(Verdict.FAILED, "the message was not delivered", "What the report says is wrong."),
    "Message complaint": reported(Verdict.STOPPED, "its receiver complained about the message"),
    "Message unsubscribed": reported(Verdict.STOPPED, "its receiver unsubscribed"),
    "Address was suppressed": sending.address_suppressed,
    "Message opened": reported(Verdict.PASSED, "the message was opened"),
    "Message clicked": reported(Verdict.PASSED, "a link of the message was clicked"),
    MESSAGE_DELETED: receipts.deleted,
    "Step canceled": receipts.canceled,
    "Step was canceled because a previous step failed": receipts.stopped_by_failure,
}

CODES: dict[str | None, Rule] = {
    DetailCode.BOUNCED_HARD: reported(Verdict.FAILED, "the message bounced for good", "A correct address."),
    DetailCode.BOUNCED_SOFT: reported(
        Verdict.FAILED,
        "the message bounced, but may arrive another time",
        "What the report says is wrong, such as a full mailbox. The address is not suppressed.",
    ),
}
"""Rules of details that have a code, which goes before their text."""

_REFUSALS = {
    DecisionKind.CONDITION: {text for text, rule in RULES.items() if rule is conditions.refused},
    DecisionKind.PREFERENCE: {text for text, rule in RULES.items() if rule is preferences.filtered},
    DecisionKind.SCHEDULE: {text for text, rule in RULES.items() if rule is preferences.outside_schedule},
}
