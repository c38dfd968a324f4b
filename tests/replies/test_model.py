"""Addresses of replies, and mails however they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.content.links import LinkSecret
from clarion.ids import EnvironmentId, MessageId
from clarion.jsontext import json_text
from clarion.replies.inbound.mime import (
    MAX_BORDERS,
    MAX_LINES,
    MAX_NAME,
    MAX_NESTED,
    MAX_WORK,
    MailUnreadable,
    read_mime,
)
from clarion.replies.model import (
    MAX_ATTACHMENTS,
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

    assert find_message(SECRET, mail.list_recipients()) == MESSAGE


@given(st.binary(max_size=300))
def test_no_bytes_keep_a_mail_from_being_read(content: bytes) -> None:
    for raw in (
        content,
        b"From: a@example.org\r\nContent-Type: text/plain; charset=" + content + b"\r\n\r\n" + content,
    ):
        mail = read_mime(raw)
        json_text(mail)
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


def nest(depth: int, body: bytes) -> bytes:
    heads = (b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (one, one) for one in range(depth))
    return b"".join(heads) + b"\r\n" + body


@pytest.mark.parametrize(
    "content",
    [
        nest(MAX_NESTED + 1, b""),
        nest(1, b"").replace(b"Content-Type: ", b"content-type:\r\n\t") * (MAX_NESTED + 1),
        b"\n" * (MAX_LINES + 1),
        b"\r" * (MAX_LINES + 1),
        nest(MAX_NESTED, b"\r\n" * (MAX_WORK // MAX_NESTED)),
        nest(1, b"--b0\n\n" * (MAX_BORDERS + 1)),
    ],
    ids=["nested", "folded", "lines", "other lines", "lines in nested parts", "borders"],
)
def test_a_mail_that_would_take_long_is_not_read(content: bytes) -> None:
    with pytest.raises(MailUnreadable):
        read_mime(content)


def test_a_nested_mail_of_usual_size_is_read() -> None:
    mail = read_mime(nest(4, b"Yes, please\r\n" * 100_000))

    assert mail.text.startswith("Yes, please")


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Type: text/plain; charset=undefined",
        b"Content-Type: text/plain; charset=punycode",
        b"Content-Type: text/plain; charset*=undefined''x",
        b"Content-Type: text/plain; name*=undefined''x",
        b"Content-Disposition: attachment; filename*=undefined''x",
        b"Subject: =?utf-7?Q?+2AA-?=",
        b"Subject: =?undefined?Q?a?=",
        b"Content-Type: text/plain; charset=utf-7",
        b"From: " + b"(" * 5_000,
        b"To: " + b"(" * 1_900,
        b"Content-Type: " + b'; "' * 100_000,
    ],
)
def test_a_hostile_head_keeps_no_mail_from_being_read(head: bytes) -> None:
    mail = read_mime(b"Message-ID: <1@example.org>\r\n" + head + b"\r\n\r\n+2AA- Hi")

    assert mail.message_id == "<1@example.org>"
    json_text(mail)


def test_names_and_types_are_cut_and_files_are_few() -> None:
    long = b"a" * 1_000
    file = (
        b"--b\r\nContent-Type: x/" + long + b"\r\nContent-Disposition: attachment; filename=" + long[:900] + b"\r\n\r\n"
    )
    mail = read_mime(long + b": x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" + file * (MAX_ATTACHMENTS + 1))

    assert max(map(len, mail.headers)) == MAX_NAME
    assert len(mail.attachments) == MAX_ATTACHMENTS
    assert len(mail.attachments[0].file_name) == len(mail.attachments[0].content_type) == MAX_NAME
