"""Every provider over SMTP: the letter that its server is handed, and what refusals mean."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from clarion.providers.base import FailureKind, SendFailure
from clarion.providers.email import smtp
from tests.providers.certificates import make_certificate
from tests.providers.contract.golden import FOLDER, make_letter, record_letter
from tests.providers.contract.smtp_cases import SMTP_CASES, SmtpCase, play_mail
from tests.providers.loopback import PASSWORD

each_case = pytest.mark.parametrize("case", SMTP_CASES, ids=lambda case: case.id)
# What the server says to the address or to the letter, and what that must be taken for.
FAULTS: Mapping[str, tuple[str, str, FailureKind]] = {
    "invalid recipient": ("ada@example.org", "550 5.1.1 No such user", FailureKind.RECIPIENT_INVALID),
    "address that is none": ("ada@example.org", "553 5.1.3 Bad address", FailureKind.RECIPIENT_INVALID),
    "greylisted": ("ada@example.org", "450 4.2.0 Try again later", FailureKind.RETRYABLE),
    "spam": ("DATA", "554 5.7.1 Message refused", FailureKind.PERMANENT),
    "too big": ("DATA", "552 5.3.4 Message too big", FailureKind.PERMANENT),
    "busy": ("DATA", "451 4.3.0 Local error", FailureKind.RETRYABLE),
    "reset": ("DATA", "hang up", FailureKind.RETRYABLE),
}


@pytest.fixture
def certificate(case: SmtpCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path | None:
    """A certificate that this test alone trusts, where the provider insists on one."""
    if not case.certificate_for:
        return None
    made = make_certificate(tmp_path, host=case.certificate_for)
    monkeypatch.setenv("SSL_CERT_FILE", str(made))
    smtp._tls_context.cache_clear()
    return made


@each_case
async def test_the_letter_is_the_one_that_was_read_by_people(case: SmtpCase, certificate: Path | None) -> None:
    assert await record_letter(case, certificate) == (FOLDER / f"{case.id}.json").read_text()


@pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))
@each_case
async def test_a_refusal_is_taken_for_what_it_is(
    case: SmtpCase, certificate: Path | None, fault: tuple[str, str, FailureKind]
) -> None:
    moment, words, kind = fault
    async with play_mail(case, certificate) as (server, carrier):
        server.replies[moment] = words
        with pytest.raises(SendFailure) as failure:
            await carrier.send(case.id, make_letter(case))

    assert failure.value.kind is kind
    assert PASSWORD not in f"{failure.value!r} {failure.value.raw} {failure.value.__context__}"


@each_case
async def test_an_account_is_tried_out(case: SmtpCase, certificate: Path | None) -> None:
    async with play_mail(case, certificate) as (server, carrier):
        await carrier.check(case.id, case.credentials)
        with pytest.raises(SendFailure) as failure:
            await carrier.check(case.id, {**case.credentials, "password": "wrong"})

    assert failure.value.kind is FailureKind.PERMANENT
    assert server.envelopes == []
