"""Phone numbers: which are complete, and what a missing country code is completed from."""

import pytest

from clarion.providers.definition.provider import find_credential_problems
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.registry import PROVIDERS
from clarion.providers.sms.numbers import find_region, has_country_code, normalise_number


@pytest.mark.parametrize(
    ("given", "regions", "number"),
    [
        ("+44 20 7946 0000", [], "+442079460000"),
        ("0044 (20) 7946-0000", ["US"], "+442079460000"),
        ("(202) 555-0123", ["US"], "+12025550123"),
        ("1.202.555.0123", ["us"], "+12025550123"),
        ("020 7946 0000", ["GB"], "+442079460000"),
        ("442079460000", ["GB"], "+442079460000"),
        ("020 7946 0000", ["US", "GB"], "+442079460000"),
        ("020 7946 0000", ["GB", "GB", ""], "+442079460000"),
        ("12345", [], "12345"),
        ("+44 (0)20 7946 0000", [], "+442079460000"),
        ("0044 ( 0 ) 20 7946 0000", [], "+442079460000"),
        ("+49 (0) 30 123456", [], "+4930123456"),
        # In Italy the zero is a part of the number.
        ("+39 (0)6 1234 5678", [], "+390612345678"),
        ("(0)20 7946 0000", ["GB"], "+442079460000"),
        # Numbers that are none: the zero is dropped as well.
        ("+44 (0)20 7946", [], "+44207946"),
    ],
)
def test_a_number_gets_its_international_form(given: str, regions: list[str], number: str) -> None:
    assert normalise_number(given, regions) == number


@pytest.mark.parametrize(
    ("given", "regions", "problem"),
    [
        ("(202) 555-0123", [], "set 'defaultRegion' of the integration"),
        ("442079460000", [], "set 'defaultRegion' of the integration"),
        ("(202) 555-0123", ["GB"], "is not valid in GB"),
        ("02079460000", ["XX"], "is not valid in XX"),
        # A number of Berlin and one of Utrecht.
        ("030 1234567", ["DE", "NL"], "is valid in DE and NL"),
    ],
)
def test_a_country_code_is_never_guessed(given: str, regions: list[str], problem: str) -> None:
    with pytest.raises(SendFailure, match=problem) as failure:
        normalise_number(given, regions)

    assert failure.value.kind is FailureKind.RECIPIENT_INVALID
    assert failure.value.message.startswith("The phone number has no country code")


@pytest.mark.parametrize("given", ["", "+", "ada", "+44\r\nX-Header: y", "+44207946000012345", "٤٤٢٠٧٩٤٦", "+44,+45"])
def test_an_invalid_number_is_an_invalid_recipient(given: str) -> None:
    with pytest.raises(SendFailure) as failure:
        normalise_number(given, ["GB"])

    assert failure.value.kind is FailureKind.RECIPIENT_INVALID


@pytest.mark.parametrize(
    ("given", "is_complete"), [("+44 20", True), ("0044 20", True), ("12345", True), ("020 7946 0000", False)]
)
def test_a_number_with_a_country_code_needs_no_region(given: str, is_complete: bool) -> None:
    assert has_country_code(given) is is_complete


@pytest.mark.parametrize(
    ("locale", "region"),
    [
        ("en-GB", "GB"),
        ("en_us", "US"),
        ("zh-Hant-TW", "TW"),
        ("de-DE-1996", "DE"),
        ("en", ""),
        ("zh-Hant", ""),
        ("es-419", ""),
        (None, ""),
    ],
)
def test_the_region_is_that_of_the_locale(locale: str | None, region: str) -> None:
    assert find_region(locale) == region


def test_the_default_region_of_an_account_is_a_country() -> None:
    account = {"accountSid": "AC1", "token": "t", "from": "Acme"}

    assert find_credential_problems(PROVIDERS["twilio"], account | {"defaultRegion": "gb"}) == {}
    assert set(find_credential_problems(PROVIDERS["twilio"], account | {"defaultRegion": "UK"})) == {"defaultRegion"}
