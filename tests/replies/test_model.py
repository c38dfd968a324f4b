"""Addresses of replies, and mails however they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.content.links import LinkSecret
from clarion.ids import EnvironmentId, MessageId
from clarion.replies.inbound.mime import read_mime
from clarion.replies.model import (
    MAX_TEXT,
    InboundMail,
    MailAddress,
    find_message,
    make_reply_address,
    read_reply_address,
)

SECRET = LinkSecret(EnvironmentId(b"e" * 16), b"k" * 32)
NEIGHBOUR = LinkSecret(EnvironmentId(b"n" * 16), b"k" * 32)
MESSAGE = MessageId(bytes(range(16)))
ADDRESS = make_reply_address(SECRET, MESSAGE, "in.example.com")


@given(st.binary(min_size=16, max_size=16))
def test_an_address_names_its_message_in_any_case(message_id: bytes) -> None:
    address = make_reply_address(SECRET, MessageId(message_id), "in.example.com")

    assert len(address.partition("@")[0]) <= 64
    assert read_reply_address(SECRET, address) == message_id
    assert read_reply_address(SECRET, f"Ada <{address.upper()}>") == message_id
    assert read_reply_address(NEIGHBOUR, address) is None


@given(st.text(max_size=80))
def test_nothing_else_is_an_address_of_a_reply(text: str) -> None:
    assert read_reply_address(SECRET, text) is None
    assert read_reply_address(SECRET, f"reply+{text}@in.example.com") is None


@pytest.mark.parametrize("place", [6, 20, 35, 47])
def test_a_changed_address_names_nothing(place: int) -> None:
    changed = ADDRESS[:place] + ("a" if ADDRESS[place] != "a" else "b") + ADDRESS[place + 1 :]

    assert read_reply_address(SECRET, changed) is None


def test_the_address_that_the_mail_was_delivered_to_counts_first() -> None:
    other = make_reply_address(SECRET, MessageId(b"o" * 16), "in.example.com")
    mail = InboundMail(sender=[], to=[MailAddress(address=other)], envelope_to=["x@example.com", ADDRESS])

    assert find_message(SECRET, mail) == MESSAGE


@given(st.binary(max_size=300))
def test_no_bytes_keep_a_mail_from_being_read(content: bytes) -> None:
    for raw in (
        content,
        b"From: a@example.org\r\nContent-Type: text/plain; charset=" + content + b"\r\n\r\n" + content,
    ):
        mail = read_mime(raw)
        assert "\0" not in mail.text
        assert "\n" not in mail.subject


def test_encoded_names_are_read_and_never_become_addresses() -> None:
    mail = read_mime(
        b"From: =?utf-8?q?evil=40example.com=2C_J=C3=B6rg?= <joerg@example.org>\r\n"
        b"Subject: =?utf-8?b?R3LDvMOfZQ==?=\r\n =?bad?q?x?=\r\nTo: b@example.org\r\n\r\nHi"
    )

    assert [one.address for one in mail.sender] == ["joerg@example.org"]
    assert mail.sender[0].name == "evil@example.com, Jörg"
    assert mail.text == "Hi"


def test_long_texts_are_cut() -> None:
    mail = read_mime(b"From: a@example.org\r\n\r\n" + b"a" * (MAX_TEXT + 1))

    assert (len(mail.text), mail.is_cut) == (MAX_TEXT, True)


@pytest.mark.parametrize(
    ("header", "is_automatic"),
    [
        (b"X: y", False),
        (b"Auto-Submitted: no", False),
        (b"Auto-Submitted: auto-replied", True),
        (b"Precedence: bulk", True),
    ],
)
def test_answers_of_programs_are_told(header: bytes, *, is_automatic: bool) -> None:
    assert read_mime(b"From: a@example.org\r\n" + header + b"\r\n\r\nAway").is_automatic is is_automatic
