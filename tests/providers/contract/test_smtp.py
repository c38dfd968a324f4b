"""The contract of all SMTP providers: content, classification of errors, and checks of credentials."""

import logging
from pathlib import Path

import pytest
from msgspec.structs import replace

from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.transport import smtp
from tests.providers.certificates import make_certificate
from tests.providers.contract.golden import FOLDER, make_email_message, record_email
from tests.providers.contract.smtp_cases import SMTP_CASES, SMTP_FAULTS, SmtpCase, play_mail
from tests.providers.loopback import PASSWORD

each_case = pytest.mark.parametrize("case", SMTP_CASES, ids=lambda case: case.id)


@pytest.fixture
def certificate(case: SmtpCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path | None:
    """A certificate that only this test trusts, for providers that require TLS."""
    if not case.certificate_for:
        return None
    made = make_certificate(tmp_path, host=case.certificate_for)
    monkeypatch.setenv("SSL_CERT_FILE", str(made))
    smtp._tls_context.cache_clear()
    return made


@each_case
async def test_the_e_mail_matches_the_golden_file(case: SmtpCase, certificate: Path | None) -> None:
    assert await record_email(case, certificate) == (FOLDER / f"{case.id}.json").read_text()


@pytest.mark.parametrize("fault", SMTP_FAULTS.values(), ids=list(SMTP_FAULTS))
@each_case
async def test_an_error_answer_is_classified(
    case: SmtpCase, certificate: Path | None, fault: tuple[str, str, FailureKind], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    moment, words, kind = fault
    if moment == "AUTH":
        case = replace(case, credentials={**case.credentials, "password": f"{PASSWORD}-mistyped"})
    seconds = 1 if words == "silence" else 30
    async with play_mail(case, certificate, seconds=seconds) as (server, gateway):
        server.replies[moment] = words
        with pytest.raises(SendFailure) as failure:
            # Without copies: a message is sent if any of its recipients is accepted.
            await gateway.send(case.id, replace(make_email_message(case), overrides={}))

    assert failure.value.kind is kind, failure.value.message
    assert failure.value.is_account_refused is (moment == "AUTH")
    assert PASSWORD not in f"{failure.value!r} {failure.value.raw} {failure.value.__context__} {caplog.text}"


@each_case
async def test_wrong_credentials_fail_the_check(case: SmtpCase, certificate: Path | None) -> None:
    async with play_mail(case, certificate) as (server, gateway):
        await gateway.check(case.id, case.credentials)
        with pytest.raises(SendFailure) as failure:
            await gateway.check(case.id, {**case.credentials, "password": "wrong"})

    assert failure.value.kind is FailureKind.PERMANENT
    assert server.envelopes == []
