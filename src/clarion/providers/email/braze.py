"""Braze: e-mails to users of its workspace, who are looked up by address first."""

import re
from collections.abc import Mapping
from typing import ClassVar

from clarion.providers.definition.credentials import EmailCredentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import EmailProvider
from clarion.providers.definition.receipts import RequestFlow
from clarion.providers.definition.request import ProviderRequest, bearer, drop_empty
from clarion.providers.definition.result import (
    FailureKind,
    SendFailure,
    classify_status,
    error_text,
    json_id,
    read_error_text,
    reset_header,
)
from clarion.providers.email.addresses import write_address
from clarion.providers.email.message import Email
from clarion.secret import Secret

_READ_RETRY_AFTER = reset_header("X-RateLimit-Reset")


class BrazeCredentials(EmailCredentials):
    SPELLINGS: ClassVar[Mapping[str, str]] = {"apiURL": "baseUrl", "appID": "applicationId"}

    api_key: Secret
    base_url: str
    application_id: str

    def url(self, path: str) -> str:
        return f"{self.base_url.rstrip('/')}{path}"


def request(account: BrazeCredentials, email: Email) -> RequestFlow[ProviderRequest]:
    # A failure lets another integration send the e-mail. Sending it without its attachments would be worse.
    if email.to_others or email.cc or len(email.bcc) > 1 or email.attachments:
        raise SendFailure(FailureKind.PERMANENT, "Braze takes no copies but a hidden one, and no files")
    user_id = yield from _find_user(account, email.to.addr_spec)
    message = {
        "app_id": account.application_id,
        "from": write_address(email.sender),
        "bcc": next((one.addr_spec for one in email.bcc), None),
        "reply_to": next(map(write_address, email.reply_to), None),
        "subject": _literal(email.subject),
        "body": _literal(email.as_html),
        "plaintext_body": _literal(email.text),
        "headers": email.headers,
    }
    body = {"external_user_ids": [user_id], "messages": {"email": drop_empty(message)}}
    return ProviderRequest.json(account.url("/messages/send"), body)


def _find_user(account: BrazeCredentials, address: str) -> RequestFlow[str]:
    query = {"email_address": address, "fields_to_export": ["external_id"]}
    answer = yield ProviderRequest.json(account.url("/users/export/ids"), query)
    if not answer.is_success or not answer.values("users"):
        kind = FailureKind.RETRYABLE if answer.is_success else classify_status(answer.status)
        sentence = f"Braze answered {answer.status} when it was asked for the recipient: {read_error_text(answer)}"
        wait = answer.retry_after if answer.retry_after is not None else _READ_RETRY_AFTER(answer)
        raise SendFailure(kind, sentence, retry_after=wait)
    user_id = answer.value("users.*.external_id")
    if not user_id:
        raise SendFailure(FailureKind.RECIPIENT_INVALID, "Braze knows nobody with this address")
    return str(user_id)


def _literal(text: str) -> str:
    """Escape braces: Braze renders Liquid, and the content of a message must not be executed as a template."""
    return re.sub(r"\{(?=[{%])", "{{ '{' }}", text)


PROVIDER = EmailProvider(
    id="braze",
    name="Braze",
    credentials=BrazeCredentials,
    auth=lambda account: bearer(account.api_key),
    request=request,
    sent=json_id("dispatch_id"),
    accepts=lambda answer: answer.value("message") == "success" and not answer.value("errors"),
    failures=(error_text(r"no recipients", FailureKind.RECIPIENT_INVALID, status=400),),
    read_retry_after=_READ_RETRY_AFTER,
    casing=snake,
    can_attach_files=False,
    documentation="https://www.braze.com/docs/api/endpoints/messaging/send_messages/post_send_messages/",
    note="`baseUrl` (or `apiURL`) is the REST endpoint of the instance, `applicationId` (or `appID`) the identifier of "
    "the app. Without a reply-to address the workspace's default applies. The key needs the "
    "permissions `messages.send` and `users.export.ids`. Recipients must be users of the workspace with an external "
    "id, and who unsubscribed is left out unless `recipientSubscriptionState` in the overrides is `all`. Takes no cc "
    "and no attachments, and as bcc only what the workspace has set up: such a message fails, or goes to the next "
    "integration.",
)
