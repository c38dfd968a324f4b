"""Test e-mails: a step as it is in an editor, sent to the one who edits it; no record of a person has it.

Copies (`cc`, `bcc`) get nothing, links to unsubscribe are samples, nothing is tracked, and secret variables are masked,
as in the preview.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from clarion.audit.model import Action
from clarion.audit.recording import author_of, record_event
from clarion.clock import SECOND, Millis
from clarion.conditions import decide_filters
from clarion.errors import Invalid, RateLimited
from clarion.http.attempts import AttemptLimit, LeakyCounters
from clarion.http.caller import Caller
from clarion.http.operation import DetachedCall
from clarion.http.wire import EmailText
from clarion.ids import id_text, new_id
from clarion.integrations.model import Integration, failover_key
from clarion.integrations.variables import resolve_credentials
from clarion.integrations.verification import load_live, send_once
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.provider import BuiltinProvider
from clarion.providers.registry import find_provider
from clarion.sending.suppressions.model import mask_address
from clarion.sending.suppressions.store import find_suppression
from clarion.vocabulary import Channel, Scope
from clarion.workflows.email_tests_wire import TestEmailOut

OF_CALLER = AttemptLimit(10, Millis(30 * SECOND))
"""Test e-mails of one member or API key: so many at once, and one more each time."""
OF_ENVIRONMENT = AttemptLimit(50, Millis(6 * SECOND))
MARK = "[Test]"
_UNSUBSCRIBE_HEADER = "list-unsubscribe"
_KEPT = ("from", "senderName", "replyTo", "headers", "preheader")
"""What the step says beside subject and body, without those who get copies."""


class EmailTestThrottle:
    """Counts the test e-mails that this process has sent: they must not become a way to send mail."""

    category = "testEmail"
    things = "test e-mails"

    def __init__(self) -> None:
        self._counters = LeakyCounters()

    def admit(self, caller: Caller, now: Millis) -> None:
        """Count one; raises RateLimited if there were too many."""
        limits = {caller.key_id: OF_CALLER, caller.environment_id: OF_ENVIRONMENT}
        for key, limit in limits.items():
            if self._counters.get_level(key, limit, now) + 1 > limit.burst:
                seconds = -(-int(limit.every) // SECOND)
                message = f"Too many {self.things}; try again in {seconds} s"
                raise RateLimited(message, retry_after=seconds, ctx={"category": self.category, "retryAfter": seconds})
        for key, limit in limits.items():
            self._counters.add(key, limit, now)


def choose_address(caller: Caller, given: EmailText | None) -> str:
    """Return where the caller may send a test e-mail to."""
    if caller.member is not None:
        if given is not None and given.lower() != caller.member.email:
            raise Invalid.field("to", "must be left out: members get test e-mails at their own address")
        return caller.member.email
    if given is None:
        raise Invalid.field("to", "is missing: an API key has no address of its own")
    return str(given)


async def choose_integration(call: DetachedCall, name: str | None, variables: Mapping[str, Any]) -> Integration:
    """Return the named integration, or the one that is first for the e-mail, with the values of its variables."""
    live, content = await load_live(call)
    usable = [one for one in live if one.active and one.channel is Channel.EMAIL and not _is_built_in(one)]
    if name is None:
        fitting = [one for one in usable if not one.conditions or _holds(one, variables)]
        if not fitting:
            raise Invalid.field(
                "integrationId", "is missing, and no active e-mail integration sends to mailboxes; add one first"
            )
        return resolve_credentials(min(fitting, key=failover_key), content)
    named = next((one for one in usable if name in (one.identifier, id_text(one.id))), None)
    if named is None:
        raise Invalid.field("integrationId", "names no active e-mail integration that sends to mailboxes", name)
    return resolve_credentials(named, content)


async def send_test_email(
    call: DetachedCall, content: Mapping[str, Any], integration: Integration, to: str
) -> TestEmailOut:
    """Send the rendered content; raises Invalid if it lacks something, or if nothing is sent to the address."""
    missing = [name for name in ("subject", "body") if not content[name].strip()]
    if missing:
        raise Invalid.field(f"controlValues.{missing[0]}", "is missing, or rendered empty")
    call.services.shared.get(EmailTestThrottle).admit(call.caller, call.now)
    find = partial(find_suppression, environment_id=call.environment_id, channel=Channel.EMAIL, address=to)
    suppression = await call.database.read(find)
    if suppression is not None:
        reason = f" ({suppression.reason})" if call.caller.has_scope(Scope.MESSAGES_READ) else ""
        raise Invalid.field("to", f"is suppressed{reason}; clear the suppression of the address first")
    await call.database.transaction(
        lambda db: record_event(
            db,
            Action.INTEGRATION_TEST_EMAIL,
            integration,
            author_of(call),
            call.now,
            details={"to": mask_address(Channel.EMAIL, to)},
        )
    )
    result = await send_once(call, integration, _outgoing(call, content, integration, to))
    return TestEmailOut(to=to, integration=integration.identifier, result=result)


def _outgoing(call: DetachedCall, content: Mapping[str, Any], integration: Integration, to: str) -> Outgoing:
    options = {name: content[name] for name in _KEPT if content.get(name)}
    headers = options.pop("headers", {})
    kept = {name: value for name, value in headers.items() if not name.lower().startswith(_UNSUBSCRIBE_HEADER)}
    return Outgoing(
        message_id=id_text(new_id(call.now)),
        channel=Channel.EMAIL,
        content=content["body"],
        subject=f"{MARK} {content['subject']}",
        email=to,
        credentials=integration.credentials,
        overrides=options | ({"headers": kept} if kept else {}),
    )


def _is_built_in(integration: Integration) -> bool:
    return isinstance(find_provider(integration.provider_id), BuiltinProvider)


def _holds(integration: Integration, variables: Mapping[str, Any]) -> bool:
    """Conditions with templates are for runs, which have all variables."""
    return not integration.has_templates_in_conditions and decide_filters(integration.conditions, variables).passed
