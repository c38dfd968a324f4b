"""Behaviour of single e-mail providers, beyond the shared contract."""

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from email.headerregistry import Address
from typing import Any

import pytest

from clarion.clock import Millis
from clarion.providers.definition.receipts import Callback, ReceiptRefused
from clarion.providers.definition.request import ProviderCall
from clarion.providers.definition.result import FailureKind, SendFailure, seconds_header
from clarion.providers.email.mailjet import to_mailjet_case
from clarion.providers.email.message import Email
from clarion.providers.signing.signatures import sign_webhook
from clarion.secret import Secret
from tests.providers.contract.case import MESSAGE_ID, NOW, RECEIPTS_URL, Case
from tests.providers.contract.golden import make_gateway
from tests.providers.contract.table import CASES
from tests.providers.contract.vendor import Received, Reply, play
from tests.providers.definition.test_request import make_answer

CASE_OF = {case.id: case for case in CASES}


def make_email(**fields: Any) -> Email:
    people = {"to": Address(addr_spec="ada@example.org"), "sender": Address(addr_spec="news@example.com")}
    base = {"message_id": MESSAGE_ID, "at": NOW, "subject": "Hello", "html": None, "text": "Hello", **people}
    return Email(**base | fields)


async def send(
    case: Case, answers: Reply | Callable[[Received], Reply | None], **fields: Any
) -> tuple[Any, list[Received]]:
    """Return the result or the failure, and the requests to the provider."""
    async with play(answers if callable(answers) else lambda _: answers) as vendor, make_gateway(vendor) as gateway:
        try:
            return await gateway.send(case.id, case.make_outgoing(**fields)), vendor.requests
        except SendFailure as failure:
            return failure, vendor.requests


@pytest.mark.parametrize(
    ("provider_id", "answer"),
    [
        (
            "plunk",
            Reply(
                status=409,
                body={"error": {"code": "IDEMPOTENCY_KEY_REUSED", "details": {"originalStatusCode": 200}}},
            ),
        ),
        ("sendinblue", Reply(status=400, body={"code": "duplicate_parameter", "message": "Duplicate idempotencyKey"})),
    ],
)
async def test_a_repeated_send_that_is_refused_as_a_duplicate_counts_as_sent(provider_id: str, answer: Reply) -> None:
    sent, _ = await send(CASE_OF[provider_id], answer)

    assert sent.provider_message_id == MESSAGE_ID


async def test_nothing_is_sent_through_braze_to_an_unknown_user() -> None:
    failure, requests = await send(CASE_OF["braze"], Reply(status=201, body={"users": [], "message": "success"}))

    assert (failure.kind, len(requests)) == (FailureKind.RECIPIENT_INVALID, 1)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, FailureKind.PERMANENT), (429, FailureKind.RATE_LIMITED), (503, FailureKind.RETRYABLE)],
)
async def test_a_failed_lookup_at_braze_is_classified(status: int, kind: FailureKind) -> None:
    reset = {"X-RateLimit-Reset": str(NOW // 1000 + 20)}
    failure, requests = await send(CASE_OF["braze"], Reply(status=status, body={"message": "no"}, headers=reset))

    assert (failure.kind, failure.retry_after, len(requests)) == (kind, 20, 1)


async def test_a_malformed_lookup_answer_of_braze_is_retryable() -> None:
    failure, requests = await send(CASE_OF["braze"], Reply(body="<html>A proxy says hello"))

    assert (failure.kind, len(requests)) == (FailureKind.RETRYABLE, 1)


@pytest.mark.parametrize(
    "overrides",
    [
        {"cc": "grace@example.org"},
        {"bcc": ["a@example.org", "b@example.org"]},
        {"attachments": [{"name": "invoice.pdf", "file": "SGVsbG8="}]},
    ],
)
async def test_braze_refuses_what_it_does_not_support(overrides: dict[str, Any]) -> None:
    failure, requests = await send(CASE_OF["braze"], Reply(), overrides=overrides)

    assert (failure.kind, requests) == (FailureKind.PERMANENT, [])


async def test_braze_applies_the_reply_address_of_the_workspace_unless_one_is_given() -> None:
    case = CASE_OF["braze"]
    _, requests = await send(case, case.answers(case.success), overrides={})

    assert "reply_to" not in json.loads(requests[-1].body)["messages"]["email"]


async def test_braze_takes_its_endpoint_and_app_under_either_name() -> None:
    case = CASE_OF["braze"]
    given = {
        {"baseUrl": "apiURL", "applicationId": "appID"}.get(name, name): one for name, one in case.credentials.items()
    }
    answers = case.answers(case.success)

    _, first = await send(case, answers)
    _, second = await send(case, answers, credentials=given)

    assert [(one.url, one.body) for one in first] == [(one.url, one.body) for one in second]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a{b}", "a{b}"),
        ("{{name}}", "{{opening_double_curly()}}name{{closing_double_curly()}}"),
        ("{{{name}}}", "{{opening_triple_curly()}}name{{closing_triple_curly()}}"),
        ("}}}}", "{{closing_double_curly()}}{{closing_double_curly()}}"),
        ("@media print{a{}}", "@media print{a{ {{closing_double_curly()}}"),
    ],
)
async def test_braces_are_escaped_for_sparkpost(text: str, printed: str) -> None:
    _, (request,) = await send(CASE_OF["sparkpost"], CASE_OF["sparkpost"].success, content=text, overrides={})

    assert f'"text":"{printed}"' in request.body.decode()


@pytest.mark.parametrize(
    ("provider_id", "answer"),
    [
        ("resend", Reply(status=401, body={"name": "restricted_api_key"})),
        ("sparkpost", Reply(status=403, body={"errors": [{"message": "Forbidden."}]})),
        ("infobip-email", Reply(status=403, body={"requestError": {}})),
    ],
)
async def test_a_key_that_can_only_send_passes_the_check(provider_id: str, answer: Reply) -> None:
    async with play(lambda _: answer) as vendor, make_gateway(vendor) as gateway:
        await gateway.check(provider_id, CASE_OF[provider_id].credentials)

    assert len(vendor.requests) == 1


@pytest.mark.parametrize(
    ("provider_id", "method", "body"),
    [
        ("mandrill", "HEAD", b""),
        ("mandrill", "POST", b"mandrill_events=%5B%5D"),
        ("mailersend", "POST", b'{"type":"webhook.test","message":"This is a ping"}'),
    ],
)
async def test_a_webhook_test_call_is_answered(provider_id: str, method: str, body: bytes) -> None:
    callback = Callback(method=method, url=RECEIPTS_URL, body=body, received_at=NOW)
    async with play(lambda _: None) as vendor, make_gateway(vendor) as gateway:
        receipts, reply = await gateway.read_receipts(provider_id, CASE_OF[provider_id].credentials, callback)

    assert receipts == []
    assert reply is not None
    assert reply.status == 200


@pytest.mark.parametrize("provider_id", ["mailersend", "mailtrap"])
async def test_reports_are_refused_if_the_signing_key_is_empty(provider_id: str) -> None:
    case = CASE_OF[provider_id]
    body = case.reports[0].body
    (header,) = case.reports[0].headers
    callback = replace(case.reports[0].callback, headers={header: hmac.new(b"", body, hashlib.sha256).hexdigest()})
    keyless: Mapping[str, Any] = {**case.credentials, "secretKey": ""}

    async with play(lambda _: None) as vendor, make_gateway(vendor) as gateway:
        with pytest.raises(ReceiptRefused):
            await gateway.read_receipts(provider_id, keyless, callback)


@pytest.mark.parametrize(
    ("name", "spelled"),
    [("templateId", "TemplateID"), ("CustomID", "CustomID"), ("htmlPart", "HTMLPart"), ("urlTags", "URLTags")],
)
def test_names_get_the_casing_of_mailjet(name: str, spelled: str) -> None:
    assert to_mailjet_case(name) == spelled


def test_the_signature_of_a_webhook_is_the_established_one() -> None:
    body = (
        b'{"to":["johndoe@example.com"],"from":"janedoe@example.com","subject":"test","html":"<h1>test</h1>",'
        b'"text":"test"}'
    )
    call = ProviderCall(method="POST", url="https://example.com", headers={}, content=body)

    signed = sign_webhook(Secret("super-secret-key"), call, Millis(0))

    assert signed["X-Novu-Signature"] == "d1e94cd19eeceec2e0717e36f7edacaa93612b311bde8756ee35b89d4a994767"


def test_a_text_becomes_html_with_the_same_layout() -> None:
    assert make_email(text="1 < 2\n&amp;").as_html == ('<div style="white-space: pre-wrap">1 &lt; 2\n&amp;amp;</div>')
    assert make_email(html="<p>Hi</p>").as_html == "<p>Hi</p>"


@pytest.mark.parametrize(
    ("value", "seconds"), [("12", 12), ("0.5", 0), ("999999999", 86_400), ("soon", None), ("", None)]
)
def test_the_seconds_to_wait_are_read_from_a_header(value: str, seconds: int | None) -> None:
    assert seconds_header("x-wait")(make_answer(headers={"x-wait": value})) == seconds
