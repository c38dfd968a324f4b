"""Sending: content, address, suppression, integration and the attempts to hand a message to a provider."""

from typing import Any

from clarion.clock import Millis, iso_text
from clarion.engine.sending.model import PassedOver
from clarion.explain.model import Decision, DecisionKind, Verdict
from clarion.explain.rules.seen import Rule, Seen
from clarion.explain.words import CHANNEL_WORDS, list_text, sentence
from clarion.jobs.model import ATTEMPTS_PER_DRIVE
from clarion.suppressions.model import Suppression, fold_address
from clarion.vocabulary import Channel, StepType
from clarion.wording import count_text

_CHANGE_SUBSCRIBER = "PATCH /v2/subscribers/{subscriberId}"
_REASONS = {
    "bounced": "an earlier message to it bounced",
    "complained": "its owner reported an earlier message as spam",
    "unsubscribed": "its owner unsubscribed",
    "manual": "it was suppressed by hand",
}
_REPORTED = {
    "bounced": "the message bounced for good",
    "complained": "its receiver reported it as spam",
    "unsubscribed": "its receiver unsubscribed",
}
_BY = {
    "primary": "it is the primary integration of the channel",
    "priority": "it is the first of the channel by priority",
    "weight": "the weights of the channel's integrations chose it for this message",
    "trigger": "the trigger names it",
    "entry": "the person's credentials belong to it",
}


def content_made(seen: Seen) -> list[Decision]:
    count = seen.raw.get("messages", 1)
    summary = "The message was rendered." if count == 1 else f"{count} messages were rendered, one for each address."
    return [seen.decision(DecisionKind.CONTENT, Verdict.PASSED, summary, values=seen.raw)]


def content_failed(seen: Seen) -> list[Decision]:
    summary = f"The content could not be made: {seen.raw.get('reason', 'the reason was not recorded')}."
    remedy = "Correct the step, or the payload that it renders; then trigger it again."
    return [seen.decision(DecisionKind.CONTENT, Verdict.FAILED, summary, values=seen.raw, remedy=remedy)]


def step_failed(seen: Seen) -> list[Decision]:
    summary = f"{sentence(seen.step_name)} failed unexpectedly: {seen.raw.get('reason', 'not recorded')}."
    remedy = "Correct the step or the payload that it works on; the log of the worker says where it failed."
    return [seen.decision(DecisionKind.CONTENT, Verdict.FAILED, summary, values=seen.raw, remedy=remedy)]


def step_completed(seen: Seen) -> list[Decision]:
    summary = f"{sentence(seen.step_name)} is complete; later steps see its outputs."
    return [seen.decision(DecisionKind.CONTENT, Verdict.PASSED, summary, values=seen.raw)]


def left_out(what: str, remedy: str) -> Rule:
    """Something was left out of the content, and the message went on without it."""

    def rule(seen: Seen) -> list[Decision]:
        return [seen.decision(DecisionKind.CONTENT, Verdict.PASSED, what, values=seen.raw, remedy=remedy)]

    return rule


def address_missing(seen: Seen) -> list[Decision]:
    person, channel = seen.run.subscriber, seen.channel
    word = {Channel.EMAIL: "email address", Channel.SMS: "phone number"}.get(channel, "") if channel else ""
    has_now = person is not None and bool(person.email if channel is Channel.EMAIL else person.phone)
    if not word:
        return [_no_credentials(seen)]
    summary = f"{seen.name} had no {word}."
    if has_now:
        summary += f" There is one now; the profile was changed on {seen.day(person.updated_at)}." if person else ""
    remedy = f"Give the person a {word} ({_CHANGE_SUBSCRIBER}), or name one in `overrides.{channel}` of the trigger."
    return [seen.decision(DecisionKind.ADDRESS, Verdict.FAILED, summary, values=seen.raw, remedy=remedy)]


def _no_credentials(seen: Seen) -> Decision:
    what = "device token" if seen.channel is Channel.PUSH else "chat address"
    summary = f"{seen.name} had no {what} at any provider of the channel."
    remedy = f"Store the person's {what} with PUT /v1/subscribers/{{subscriberId}}/credentials."
    return seen.decision(DecisionKind.ADDRESS, Verdict.FAILED, summary, values=seen.raw, remedy=remedy)


def webhook_missing(seen: Seen) -> list[Decision]:
    summary = f"Neither {seen.name} nor the integration has a webhook URL."
    remedy = "Give the integration a webhook URL, or store one in the person's credentials."
    return [seen.decision(DecisionKind.ADDRESS, Verdict.FAILED, summary, values=seen.raw, remedy=remedy)]


def token_removed(seen: Seen) -> list[Decision]:
    summary = f"The provider said that a device token of {seen.name} will never work again: it was removed."
    remedy = "The app stores its new token with PUT /v1/subscribers/{subscriberId}/credentials."
    return [seen.decision(DecisionKind.ADDRESS, Verdict.FAILED, summary, values=seen.raw, remedy=remedy)]


def suppressed(seen: Seen) -> list[Decision]:
    reason = str(seen.raw.get("reason", ""))
    thing = "email address" if seen.channel is Channel.EMAIL else "phone number"
    found = _find_suppression(seen)
    values, since = dict(seen.raw), ""
    if found is not None and found.created_at <= seen.at:
        since = f" since {seen.day(found.created_at)}"
        values |= {"since": iso_text(found.created_at), "providerId": found.provider_id, "detail": found.detail}
    elif found is None:
        since = " then; it is not any more"
    why = _REASONS.get(reason, reason)
    summary = f"The {thing} of {seen.name} is suppressed{since}, because {why}."
    remedy = "DELETE /v1/suppressions/{channel}/{address} lets it be written to again."
    if reason == "unsubscribed" and seen.channel is Channel.EMAIL:
        remedy += " Emails of critical workflows are sent nevertheless."
    return [seen.decision(DecisionKind.SUPPRESSION, Verdict.STOPPED, summary, values=values, remedy=remedy)]


def _find_suppression(seen: Seen) -> Suppression | None:
    forms = {fold_address(one.channel, one.email or one.phone or "") for one in seen.run.messages_of(seen.job)}
    known = [one for one in seen.run.suppressions if one.channel is seen.channel]
    return next((one for one in known if one.address in forms), next(iter(known), None))


def copies_suppressed(seen: Seen) -> list[Decision]:
    addresses = [one for found in seen.raw.get("leftOut", {}).values() for one in found]
    summary = f"Copies to suppressed addresses were left out: {list_text(addresses)}."
    remedy = "DELETE /v1/suppressions/{channel}/{address} lets an address be written to again."
    return [seen.decision(DecisionKind.SUPPRESSION, Verdict.PASSED, summary, values=seen.raw, remedy=remedy)]


def address_suppressed(seen: Seen) -> list[Decision]:
    """What a report of the provider means for later messages."""
    reason = str(seen.raw.get("reason", ""))
    summary = f"Because {_REPORTED.get(reason, reason)}, nothing more is sent to {seen.raw.get('address')}."
    remedy = "DELETE /v1/suppressions/{channel}/{address} lets it be written to again."
    return [seen.decision(DecisionKind.SUPPRESSION, Verdict.PASSED, summary, values=seen.raw, remedy=remedy)]


def unsubscribed_but_critical(seen: Seen) -> list[Decision]:
    summary = f"The owner of the address unsubscribed, but {seen.workflow_name} was critical."
    return [seen.decision(DecisionKind.SUPPRESSION, Verdict.PASSED, summary, values=seen.raw)]


def integration_selected(seen: Seen) -> list[Decision]:
    identifier = seen.raw.get("identifier") or seen.raw.get("providerId")
    reason = _BY.get(str(seen.raw.get("by")))
    summary = f"The integration '{identifier}' was chosen" + (f", because {reason}." if reason else ".")
    passed_over = seen.raw.get("passedOver")
    if isinstance(passed_over, dict) and passed_over:
        rests = seen.raw.get("restsUntil", {})
        summary += " Passed over: " + "; ".join(_passed_over(seen, *one, rests) for one in passed_over.items()) + "."
    ineligible = seen.raw.get("notEligible")
    if isinstance(ineligible, dict) and ineligible:
        summary += f" Not eligible: {_list_ineligible(ineligible)}."
    values = dict(seen.raw)
    if "restsUntil" in values:
        values["restsUntil"] = {name: iso_text(Millis(until)) for name, until in values["restsUntil"].items()}
    return [seen.decision(DecisionKind.INTEGRATION, Verdict.PASSED, summary, values=values)]


def _passed_over(seen: Seen, identifier: str, why: str, rests: dict[str, Any]) -> str:
    end = f" until {seen.moment(Millis(rests[identifier]))}" if identifier in rests else ""
    match why:
        case PassedOver.CIRCUIT_OPEN:
            return f"'{identifier}' failed too often, so that its circuit was open{end}"
        case PassedOver.PAUSED:
            return f"'{identifier}' was paused, because its provider asked for it{end}"
        case PassedOver.RATE_LIMIT:
            return f"'{identifier}' had used up its rate limit"
        case _:
            return f"'{identifier}' had no room; whether by its rate limit or for its provider was not recorded"


def integration_missing(seen: Seen) -> list[Decision]:
    word = CHANNEL_WORDS[seen.channel] if seen.channel else "the channel"
    summary = _find_wanted_problem(seen, word) or _find_channel_problem(seen, word)
    correction = f"Create or activate an integration for {word}, or change the conditions of the one that there is"
    if "wanted" in seen.raw:
        correction = "Name an integration that there is in `integrationIdentifier` of the trigger, or leave it out"
    remedy = seen.find_way_out(correction)
    return [seen.decision(DecisionKind.INTEGRATION, Verdict.FAILED, summary, values=seen.raw, remedy=remedy)]


def _find_wanted_problem(seen: Seen, word: str) -> str | None:
    """What is the matter with the one integration, or the one provider, that the message can go through."""
    ineligible, provider_id = seen.raw.get("notEligible") or {}, seen.raw.get("providerId")
    if "wanted" in seen.raw:
        wanted = seen.raw["wanted"]
        others = list_text(f"'{one}'" for one in ineligible)
        missing = f"which is no integration for {word}" + (f"; there are {others}" if others else "")
        return (
            f"The trigger names the integration '{wanted}', {missing}."
            if wanted not in ineligible
            else (f"The trigger names the integration '{wanted}', which {ineligible[wanted]}.")
        )
    if provider_id and seen.channel in (Channel.CHAT, Channel.PUSH):
        listed = _list_ineligible(ineligible)
        has_none = f"The message is for the provider '{provider_id}', of which there is no active integration"
        return f"{has_none}: {listed}." if listed else f"{has_none}."
    return None


def _find_channel_problem(seen: Seen, word: str) -> str:
    ineligible = seen.raw.get("notEligible")
    if not isinstance(ineligible, dict):
        return f"No active integration for {word} could send it."
    listed = _list_ineligible(ineligible)
    return (
        f"No integration for {word} could send it: {listed}."
        if listed
        else (f"The environment has no integration for {word}.")
    )


def _list_ineligible(ineligible: dict[str, str]) -> str:
    return "; ".join(f"'{name}' {why}" for name, why in ineligible.items())


def waits_for_turn(seen: Seen) -> list[Decision]:
    names = list_text(f"'{one}'" for one in seen.raw.get("integrations", ())) or "the integration"
    time = count_text(seen.raw.get("milliseconds", 0) / 1000, "second", "seconds")
    paused = seen.raw.get("pausedUntil")
    values, remedy = dict(seen.raw), "A second integration of the channel, or a higher limit at the provider."
    if paused:
        until = seen.moment(Millis(max(paused.values())))
        summary = f"The provider of {list_text(map(repr, paused))} asked to be left alone until {until}: it waits."
        values["pausedUntil"] = {name: iso_text(Millis(moment)) for name, moment in paused.items()}
    elif paused is None:
        summary = (
            f"{sentence(names)} had no room for {time}; whether by its rate limit or because its provider asked for a "
            "pause was not recorded."
        )
    else:
        summary = f"The rate limit of {names} was used up: it waits for {time}."
        remedy = "A higher rate limit of the integration, or a second integration of the channel."
    return [seen.decision(DecisionKind.INTEGRATION, Verdict.WAITING, summary, values=values, remedy=remedy)]


def waits_for_connection(seen: Seen) -> list[Decision]:
    summary = "All connections to the provider were busy: it is tried again shortly, and no attempt is used up."
    return [seen.decision(DecisionKind.INTEGRATION, Verdict.WAITING, summary, values=seen.raw)]


def sent(seen: Seen) -> list[Decision]:
    if seen.job.type is StepType.IN_APP:
        summary = f"The message was put into the inbox of {seen.name}."
    else:
        summary = f"The provider '{seen.detail.provider_id}' accepted the message."
    return [seen.decision(DecisionKind.ATTEMPT, Verdict.PASSED, summary, values=_attempt_values(seen))]


def attempt_failed(seen: Seen) -> list[Decision]:
    said = seen.raw.get("message") or "the answer was not recorded"
    number = seen.raw.get("attempt")
    which = f"Attempt {number}" if number else "The attempt"
    summary = f"{which} through '{seen.detail.provider_id}' failed: {said}."
    remedy = seen.find_way_out("Correct what the provider says is wrong")
    return [seen.decision(DecisionKind.ATTEMPT, Verdict.FAILED, summary, values=_attempt_values(seen), remedy=remedy)]


def unconfirmed(seen: Seen) -> list[Decision]:
    said = seen.raw.get("message") or "no answer came"
    summary = f"The provider '{seen.detail.provider_id}' may have taken the message, but did not confirm it: {said}."
    remedy = "The provider's own log shows whether the message arrived."
    return [seen.decision(DecisionKind.ATTEMPT, Verdict.FAILED, summary, values=_attempt_values(seen), remedy=remedy)]


def not_sent(summary: str, correction: str) -> Rule:
    """Something was given up, which can be redriven unless that has been done or is of no use."""

    def rule(seen: Seen) -> list[Decision]:
        values, remedy = _attempt_values(seen), seen.find_way_out(correction)
        return [seen.decision(DecisionKind.ATTEMPT, Verdict.FAILED, summary, values=values, remedy=remedy)]

    return rule


def attempt_noted(verdict: Verdict, summary: str, remedy: str | None = None) -> Rule:
    """What else there is to say of attempts, each in a sentence of its own."""

    def rule(seen: Seen) -> list[Decision]:
        return [seen.decision(DecisionKind.ATTEMPT, verdict, summary, values=_attempt_values(seen), remedy=remedy)]

    return rule


def _attempt_values(seen: Seen) -> dict[str, Any]:
    values = dict(seen.raw)
    if seen.detail.provider_id is not None:
        values["providerId"] = seen.detail.provider_id
    if isinstance(values.get("attempt"), int):
        values["attempt"] %= ATTEMPTS_PER_DRIVE
    return values
