"""Braze: e-mails to people that it knows, who are looked up by their address first."""

import re

from clarion.providers.definition.answer import json_id
from clarion.providers.definition.credentials import EmailCredentials
from clarion.providers.definition.failures import kind_of_status, reset_header, sentence_of, words
from clarion.providers.definition.kinds import EmailProvider
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.receipts import Asking
from clarion.providers.definition.request import ProviderRequest, bearer, filled
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.email.message import Email
from clarion.secret import Secret

_PATIENCE = reset_header("X-RateLimit-Reset")


class BrazeCredentials(EmailCredentials):
    api_key: Secret
    base_url: str
    application_id: str

    def url(self, path: str) -> str:
        return f"{self.base_url.rstrip('/')}{path}"


def request(account: BrazeCredentials, email: Email) -> Asking[ProviderRequest]:
    # Better another integration of the channel than an e-mail without its invoice.
    if email.cc or len(email.bcc) > 1 or email.attachments:
        raise SendFailure(FailureKind.PERMANENT, "Braze takes no copies but a hidden one, and no files")
    person = yield from _find_person(account, email.to.addr_spec)
    letter = {
        "app_id": account.application_id,
        "from": str(email.sender),
        "bcc": next((one.addr_spec for one in email.bcc), None),
        "reply_to": str(email.reply_to[0]) if email.reply_to else "NO_REPLY_TO",
        "subject": _literal(email.subject),
        "body": _literal(email.as_html),
        "plaintext_body": _literal(email.text),
        "headers": email.headers,
    }
    body = {"external_user_ids": [person], "messages": {"email": filled(letter)}}
    return ProviderRequest.json(account.url("/messages/send"), body, auth=bearer(account.api_key))


def _find_person(account: BrazeCredentials, address: str) -> Asking[str]:
    question = {"email_address": address, "fields_to_export": ["external_id"]}
    answer = yield ProviderRequest.json(account.url("/users/export/ids"), question, auth=bearer(account.api_key))
    if not answer.is_success or not answer.values("users"):
        kind = FailureKind.RETRYABLE if answer.is_success else kind_of_status(answer.status)
        sentence = f"Braze answered {answer.status} when it was asked for the recipient: {sentence_of(answer)}"
        wait = answer.retry_after if answer.retry_after is not None else _PATIENCE(answer)
        raise SendFailure(kind, sentence, retry_after=wait)
    person = answer.value("users.*.external_id")
    if not person:
        raise SendFailure(FailureKind.RECIPIENT_INVALID, "Braze knows nobody with this address")
    return str(person)


def _literal(text: str) -> str:
    """Braces that are printed: Braze renders Liquid, and words of a message must not be able to give it orders."""
    return re.sub(r"\{(?=[{%])", "{{ '{' }}", text)


PROVIDER = EmailProvider(
    id="braze",
    name="Braze",
    credentials=BrazeCredentials,
    request=request,
    sent=json_id("dispatch_id"),
    accepts=lambda answer: answer.value("message") == "success" and not answer.value("errors"),
    failures=(words(r"no recipients", FailureKind.RECIPIENT_INVALID, status=400),),
    patience=_PATIENCE,
    casing=snake,
    page="https://www.braze.com/docs/api/endpoints/messaging/send_messages/post_send_messages/",
    note="`baseUrl` is the REST endpoint of the instance, `applicationId` the identifier of the app. The key needs the "
    "permissions `messages.send` and `users.export.ids`. Recipients must be users of the workspace with an external "
    "id, and who unsubscribed is left out unless `recipientSubscriptionState` in the overrides is `all`. Takes no cc "
    "and no attachments, and as bcc only what the workspace has set up: such a message fails, or goes to the next "
    "integration.",
)
