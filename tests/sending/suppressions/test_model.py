"""The normalization of addresses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.sending.suppressions.model import SUPPRESSED_CHANNELS, fold_address, is_address
from clarion.vocabulary import Channel


@pytest.mark.parametrize(
    "spelling",
    ["ada@example.org", " Ada@Example.ORG ", "Ada Lovelace <ada@example.org>", '"a <b>" <ADA@EXAMPLE.org> '],
)
def test_spellings_of_one_mail_address_are_one(spelling: str) -> None:
    assert fold_address(Channel.EMAIL, spelling) == "ada@example.org"


def test_domains_are_compared_as_they_are_looked_up() -> None:
    assert fold_address(Channel.EMAIL, "ada@Bücher.example") == "ada@xn--bcher-kva.example"


@pytest.mark.parametrize("spelling", ["+44 20 7946 0000", "0044 20 7946-0000", "442079460000", "+44 (20) 7946.0000"])
def test_spellings_of_one_phone_number_are_one(spelling: str) -> None:
    assert fold_address(Channel.SMS, spelling) == "442079460000"


def test_local_parts_and_national_numbers_stay_apart() -> None:
    assert fold_address(Channel.EMAIL, "ada+news@example.org") != fold_address(Channel.EMAIL, "ada@example.org")
    assert fold_address(Channel.SMS, "020 7946 0000") != fold_address(Channel.SMS, "+20 7946 0000")


@given(st.sampled_from(SUPPRESSED_CHANNELS), st.text(max_size=30))
def test_a_folded_address_stays_as_it_is(channel: Channel, text: str) -> None:
    folded = fold_address(channel, text)

    assert fold_address(channel, folded) == folded
    assert "\0" not in folded


@pytest.mark.parametrize("text", ["", "ada", "@example.org", "ada@", "a\nda@example.org", "x" * 400 + "@example.org"])
def test_what_is_no_mail_address_is_not_taken_for_one(text: str) -> None:
    assert not is_address(Channel.EMAIL, fold_address(Channel.EMAIL, text))
