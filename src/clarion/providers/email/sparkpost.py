"""SparkPost: transmissions, which are a separate e-mail for each recipient, and unsigned events."""

import re
from collections.abc import Mapping
from typing import Any

from clarion.providers.definition.credentials import EmailCredentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import EmailProvider
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, kinds_of
from clarion.providers.definition.request import ProviderRequest, drop_empty, key_header
from clarion.providers.definition.result import (
    FailureKind,
    ProviderAnswer,
    SendContext,
    SendFailure,
    Sent,
    codes,
    json_id,
    statuses,
)
from clarion.providers.email.addresses import write_address
from clarion.providers.email.message import Attachment, Email, mailbox
from clarion.secret import Secret

_BRACES = re.compile(r"\{{3}(?!\{)|\{{2}|\}{3}(?!\})|\}{2}")
_MACROS = {"{{": "opening_double", "{{{": "opening_triple", "}}": "closing_double", "}}}": "closing_triple"}
# Bounce classes: unknown address, unsubscription by e-mail, and automatic replies that are not bounces.
_HARD, _UNSUBSCRIBED, _NOT_BOUNCES = ("10", "30"), "90", ("60", "80", "100")


class SparkPostCredentials(EmailCredentials):
    api_key: Secret
    region: str = ""
    ip_pool_name: str = ""

    def url(self, resource: str) -> str:
        host = "api.eu.sparkpost.com" if self.region in ("eu", "true") else "api.sparkpost.com"
        return f"https://{host}/api/v1/{resource}"


def request(account: SparkPostCredentials, email: Email) -> ProviderRequest:
    header_to = ", ".join(one.addr_spec for one in email.all_to)
    others = (*email.to_others, *email.cc, *email.bcc)
    copies = [{"address": {**mailbox(one), "header_to": header_to}} for one in others]
    person = mailbox(email.to) if not email.to_others else {**mailbox(email.to), "header_to": header_to}
    cc = ", ".join(map(write_address, email.cc))
    content = {
        "from": mailbox(email.sender),
        "subject": _literal(email.subject),
        "html": _literal(email.html or ""),
        "text": _literal(email.text),
        "reply_to": ", ".join(map(write_address, email.reply_to)),
        "headers": drop_empty({**email.headers, "CC": cc}),
        "attachments": [_file(one, one.name) for one in email.attachments if one.content_id is None],
        "inline_images": [_file(one, one.content_id) for one in email.attachments if one.content_id is not None],
    }
    body = {
        "recipients": [{"address": person}, *copies],
        "content": drop_empty(content),
        "metadata": {"clarion_message_id": email.message_id},
        "options": drop_empty({"transactional": True, "ip_pool": account.ip_pool_name}),
    }
    # By default, SparkPost does not say which recipients it refused.
    return ProviderRequest.json(account.url("transmissions"), body).with_query(num_rcpt_errors=10)


def sent(answer: ProviderAnswer, context: SendContext) -> str | Sent | None:
    """Return the id; raises if only the copies are sent."""
    refused = [str(one) for one in answer.values("results.rcpt_to_errors.*.description")]
    if any(one.lower().endswith(context.message.to.addr_spec.lower()) for one in refused):
        raise SendFailure(FailureKind.RECIPIENT_INVALID, f"SparkPost answered {answer.status}: {refused[0]}")
    return json_id("results.id")(answer, context)


def _literal(text: str) -> str:
    """Escape braces, which SparkPost would interpret as a template."""
    escaped = _BRACES.sub(lambda found: "{{" + _MACROS[found.group()] + "_curly()}}", text)
    # A single brace beside a macro would form three braces, as in `@media print{a{}}`.
    return escaped.replace("{{{", "{ {{").replace("}}}", "}} }")


def _file(one: Attachment, name: str) -> dict[str, str]:
    return {"type": one.type, "name": name, "data": one.base64}


def _events(callback: Callback) -> list[Mapping[str, Any]]:
    """Return the events inside of their envelopes, which are empty in the test call for a new webhook."""
    events = [event for one in callback.events() for event in one["msys"].values()]
    return [event | {"kind": _kind(str(event["type"]), str(event.get("bounce_class")))} for event in events]


def _kind(kind: str, bounce_class: str) -> str:
    if bounce_class == _UNSUBSCRIBED:
        return "list_unsubscribe"
    return "" if bounce_class in _NOT_BOUNCES else kind


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("injection",),
        delivered=("delivery",),
        deferred=("delay",),
        bounced=("bounce", "out_of_band"),
        failed=("policy_rejection", "generation_failure", "generation_rejection"),
        complained=("spam_complaint",),
        unsubscribed=("list_unsubscribe", "link_unsubscribe"),
        opened=("open", "amp_open"),
        clicked=("click", "amp_click"),
    ),
    kind="kind",
    id="transmission_id",
    own_id="rcpt_meta.clarion_message_id",
    recipient="raw_rcpt_to",
    at="timestamp",
    event_id="event_id",
    reason="raw_reason",
    is_hard=lambda event: str(event.get("bounce_class")) in _HARD,
    events=_events,
)

PROVIDER = EmailProvider(
    id="sparkpost",
    name="SparkPost",
    credentials=SparkPostCredentials,
    auth=lambda account: key_header("Authorization", account.api_key),
    request=request,
    sent=sent,
    accepts=lambda answer: answer.value("results.total_accepted_recipients") != 0,
    failures=(codes("errors.*.code", recipient_invalid=(5002,)), statuses(rate_limited=(420,))),
    # A key that can send may lack the permission to read the account.
    check=lambda account: ProviderRequest.get(account.url("account")),
    check_passes=lambda answer: answer.is_success or answer.status == 403,
    receipts=Receipts(parse=RECEIPTS),
    casing=snake,
    documentation="https://developers.sparkpost.com/api/transmissions/",
    note="`region` is `eu` for accounts of the European Union.",
)
