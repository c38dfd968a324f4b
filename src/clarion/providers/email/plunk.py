"""Plunk: HTML-only e-mails, with an idempotency key that a second request is refused for."""

from clarion.providers.definition.credentials import EmailCredentials
from clarion.providers.definition.provider import EmailProvider
from clarion.providers.definition.request import ProviderRequest, bearer, drop_empty
from clarion.providers.definition.result import (
    ALREADY_SENT,
    Classification,
    FailureKind,
    ProviderAnswer,
    error_text,
    json_id,
)
from clarion.providers.email.message import Email
from clarion.secret import Secret


class PlunkCredentials(EmailCredentials):
    api_key: Secret
    base_url: str = "https://next-api.useplunk.com"

    def url(self, path: str) -> str:
        return f"{self.base_url.rstrip('/')}{path}"


def request(account: PlunkCredentials, email: Email) -> ProviderRequest:
    recipients = (*email.all_to, *email.cc, *email.bcc)
    body = {
        "to": [one.addr_spec for one in recipients],
        "from": email.sender.addr_spec,
        "name": email.sender.display_name,
        "reply": next((one.addr_spec for one in email.reply_to), None),
        "subject": email.subject,
        "body": _literal(email.as_html),
        "headers": email.headers,
        "attachments": [
            {"filename": one.name, "content": one.base64, "contentType": one.type} for one in email.attachments
        ],
    }
    headers = {"Idempotency-Key": email.message_id}
    return ProviderRequest.json(account.url("/v1/send"), drop_empty(body), headers=headers)


def classify_repeat(answer: ProviderAnswer) -> Classification | None:
    """Classify by the status of the first attempt, if this one was refused for a reused idempotency key."""
    if answer.value("error.code") != "IDEMPOTENCY_KEY_REUSED":
        return None
    first = answer.value("error.details.originalStatusCode")
    if first is None:
        # The first attempt is still running.
        return FailureKind.RETRYABLE
    return ALREADY_SENT if first == 200 else FailureKind.PERMANENT


def _literal(html: str) -> str:
    """Escape braces, which Plunk would interpret as a template."""
    return html.replace("{{", "{&#123;").replace("{%", "{&#37;")


PROVIDER = EmailProvider(
    id="plunk",
    name="Plunk",
    credentials=PlunkCredentials,
    auth=lambda account: bearer(account.api_key),
    request=request,
    # The older API has no `data` envelope.
    sent=json_id("data.emails.0.email", "emails.0.email"),
    accepts=lambda answer: answer.value("success") is True,
    failures=(
        classify_repeat,
        error_text(r'"field":\s*"to\b', FailureKind.RECIPIENT_INVALID, status=422),
    ),
    check=lambda account: ProviderRequest.get(account.url("/contacts"), {"limit": 1}),
    without=frozenset({"text"}),
    documentation="https://docs.useplunk.com/api-reference/overview",
    idempotency="`Idempotency-Key`, for 24 hours",
    note="Takes HTML alone, without a text beside it, and knows neither copies (they get an e-mail of their own) nor "
    "pictures inside of the HTML (they arrive as attachments). Keeps every recipient as a contact. Set `baseUrl` to "
    "`https://api.useplunk.com` for projects of the older product, or to a host of your own. Its documentation does "
    "not say how it words a recipient that cannot be: a 422 about the field `to` is taken for one, and any other "
    "refusal goes to the next integration.",
)
