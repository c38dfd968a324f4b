"""The contract of all HTTP providers: requests, classification of answers, receipts and redaction."""

import asyncio
import base64
import contextlib
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import fields

from clarion.providers.definition.fields import NOT_SECRET
from clarion.providers.definition.provider import HttpProvider
from clarion.providers.definition.receipts import ReceiptRefused
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.registry import PROVIDERS
from tests.providers.contract.case import Case, Report
from tests.providers.contract.golden import FOLDER, make_gateway, record
from tests.providers.contract.table import CASES
from tests.providers.contract.vendor import SILENCE, Received, Reply, play

ODD = (
    "x",
    "{}",
    '{"private_key": 7, "client_email": [], "token_uri": "x"}',
    "é🎉",
    "a\r\nb",
    "\x00",
    "https://[",
    "-1",
)
# These are used for one credential at a time, the others for all at once.
SINGLY = ODD[:4]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)


async def fail(case: Case, reply: Any, *, seconds: float = 20) -> SendFailure:
    async with play(case.answers(reply)) as vendor, make_gateway(vendor, seconds=seconds) as gateway:
        with pytest.raises(SendFailure) as failure:
            await gateway.send(case.id, case.make_outgoing())
    return failure.value


@each_case
async def test_the_request_matches_the_golden_file(case: Case) -> None:
    assert await record(case) == (FOLDER / f"{case.id}.json").read_text()


@each_case
async def test_the_id_of_the_message_is_found(case: Case) -> None:
    async with play(case.answers(case.success)) as vendor, make_gateway(vendor) as gateway:
        sent = await gateway.send(case.id, case.make_outgoing())

    assert sent.provider_message_id == case.message_id


@each_case
async def test_error_answers_are_classified(case: Case) -> None:
    wrong = {}
    for name, fault in case.faults.items():
        failure = await fail(case, fault.reply)
        if (failure.kind, failure.retry_after) != (fault.kind, fault.retry_after):
            wrong[name] = (failure.kind, failure.retry_after, failure.message)

    assert wrong == {}


# Their 401 is about the address of one recipient, for which an integration has no account.
_WITHOUT_ACCOUNT = frozenset({"mattermost", "slack", "pagerduty", "opsgenie", "grafana", "tool-webhook"})


@each_case
async def test_wrong_credentials_are_a_refusal_of_the_account_and_a_wrong_recipient_is_not(case: Case) -> None:
    faults = case.faults
    wrong_account = await fail(case, faults["401"].reply)
    wrong_recipient = await fail(case, faults["invalid recipient"].reply)

    assert wrong_account.is_account_refused is (case.id not in _WITHOUT_ACCOUNT)
    assert not wrong_recipient.is_account_refused


async def test_a_timeout_is_retryable_and_ambiguous() -> None:
    # At the same time, since each waits; long enough to connect, since a call that did not connect has sent nothing.
    failures = await asyncio.gather(*(fail(case, SILENCE, seconds=6) for case in CASES))

    for case, failure in zip(CASES, failures, strict=True):
        assert (failure.kind, failure.is_ambiguous) == (FailureKind.RETRYABLE, True), case.id


@each_case
async def test_a_lost_connection_is_retryable_and_ambiguous(case: Case) -> None:
    failure = await fail(case, lambda _: None)

    assert (failure.kind, failure.is_ambiguous) == (FailureKind.RETRYABLE, True)


@each_case
async def test_a_malformed_success_is_a_failure(case: Case) -> None:
    for body in ("", "<html>A proxy says hello", "{", "[]", "null", '"text"', "[" * 5_000, "\x00\xff"):
        if case.any_body_is_success:
            async with play(case.answers(Reply(body=body))) as vendor, make_gateway(vendor) as gateway:
                assert (await gateway.send(case.id, case.make_outgoing())).provider_message_id
        else:
            failure = await fail(case, Reply(body=body))
            assert failure.kind in (FailureKind.RETRYABLE, FailureKind.PERMANENT), body


@each_case
async def test_no_secret_is_in_results_and_logs(case: Case, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    results = [await _show_echo(case, status) for status in (200, 302, 400, 500)]

    for secret in _secrets(case):
        assert secret not in "".join(results)
        assert secret not in caplog.text
        assert secret not in repr(case.make_outgoing())


async def _show_echo(case: Case, status: int) -> str:
    """Return everything that a send reveals, if the provider echoes the request and the credentials."""

    def echo(request: Received) -> Reply:
        return Reply(status=status, body=f"{request.wire}\n{json.dumps(dict(case.credentials))}")

    async with play(case.answers(echo)) as vendor, make_gateway(vendor) as gateway:
        try:
            return repr(await gateway.send(case.id, case.make_outgoing()))
        except SendFailure as failure:
            return f"{failure!r} {failure.message} {failure.raw} {failure.__cause__} {failure.__context__}"


def _secrets(case: Case) -> Iterator[str]:
    yield "canary"
    for name, value in case.credentials.items():
        if isinstance(value, str) and name not in NOT_SECRET and not name.endswith("Url"):
            yield value
            yield base64.b64encode(value.encode()).decode().rstrip("=")[4:-4]


@pytest.mark.parametrize(
    ("case", "report"), [pytest.param(case, report, id=case.id) for case in CASES for report in case.reports]
)
async def test_reports_become_receipts(case: Case, report: Report) -> None:
    async with play(case.answers(Reply())) as vendor, make_gateway(vendor) as gateway:
        receipts, reply = await gateway.read_receipts(case.id, case.credentials, report.callback)

    assert reply is None
    assert len(receipts) == len(report.expected)
    for receipt, expected in zip(receipts, report.expected, strict=True):
        assert {name: getattr(receipt, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("case", "report"), [pytest.param(case, report, id=case.id) for case in CASES for report in case.reports]
)
async def test_forged_reports_are_refused(case: Case, report: Report) -> None:
    async with play(case.answers(Reply())) as vendor, make_gateway(vendor) as gateway:
        with pytest.raises(ReceiptRefused):
            await gateway.read_receipts(case.id, case.credentials, report.forge(report.callback))


@each_case
async def test_wrong_credentials_fail_the_check(case: Case) -> None:
    provider = PROVIDERS[case.id]
    assert isinstance(provider, HttpProvider)
    if provider.check is None:
        return
    async with play(case.answers(Reply(status=401, body={"message": "no"}))) as vendor, make_gateway(vendor) as gateway:
        with pytest.raises(SendFailure) as failure:
            await gateway.check(case.id, case.credentials)

    assert failure.value.kind is FailureKind.PERMANENT
    assert vendor.requests


@each_case
async def test_malformed_credentials_raise_no_unexpected_error(case: Case) -> None:
    """Callers can store any credentials, so only expected errors may be raised."""
    async with play(case.answers(case.success)) as vendor, make_gateway(vendor) as gateway:
        for changed in _malformed_credentials(case):
            credentials = dict(case.credentials) | changed
            with contextlib.suppress(SendFailure):
                await gateway.check(case.id, credentials)
            with contextlib.suppress(SendFailure):
                await gateway.send(case.id, case.make_outgoing(credentials=credentials))
            for report in case.reports:
                with contextlib.suppress(SendFailure, ReceiptRefused):
                    await gateway.read_receipts(case.id, credentials, report.callback)


def _malformed_credentials(case: Case) -> Iterator[dict[str, str]]:
    names = [field.encode_name for field in fields(PROVIDERS[case.id].credentials)]
    for odd in ODD:
        if odd in SINGLY:
            yield from ({name: odd} for name in names)
        else:
            yield dict.fromkeys(names, odd)
