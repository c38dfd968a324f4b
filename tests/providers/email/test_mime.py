"""MIME messages, as parsed by the standard library."""

from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

import pytest
from email_validator import EmailNotValidError, validate_email
from hypothesis import example, given
from hypothesis import strategies as st

from clarion.clock import Millis
from clarion.providers.definition.credentials import read_credentials
from clarion.providers.definition.result import SendFailure
from clarion.providers.email.addresses import _PLAIN_ADDRESS, find_address_problem, parse_address
from clarion.providers.email.message import read_email
from clarion.providers.email.mime import MimeMessage, write_mime
from clarion.providers.email.nodemailer import PROVIDER
from clarion.vocabulary import Channel
from tests.providers.loopback import make_outgoing

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=400)
LABELS = st.text("abcXYZ019-", min_size=1, max_size=66)


def write(**fields: object) -> MimeMessage:
    given = {"email": "ada@example.org", "credentials": {"from": "news@example.com"}, "subject": "Hi"} | fields
    outgoing = make_outgoing(Channel.EMAIL, **given)
    account = read_credentials(PROVIDER.credentials, {"host": "localhost", "port": "25", **outgoing.credentials})
    return write_mime(read_email(outgoing, account, Millis(1_767_225_600_000)))


def read(written: MimeMessage) -> EmailMessage:
    message = message_from_bytes(written.content, policy=default)
    assert isinstance(message, EmailMessage)
    return message


@given(TEXTS)
@example("plain")
@example("." + "x" * 200 + "\r.\r\n.\n")
@example("größer als üblich, und länger als eine Zeile sein darf: " + "ä" * 90)
@example("<p>1 &lt; 2</p>\n" + "<b>long</b>" * 40)
@example("From the beginning\n--=_\n")
@example("\0 \x0b \x0c \x85 \u2028")
def test_a_body_arrives_unchanged_except_for_line_ends(content: str) -> None:
    written = write(content=content)
    message = read(written)

    body = message.get_body(("html", "plain"))
    assert body is not None
    arrived = body.get_payload(decode=True)
    assert isinstance(arrived, bytes)
    assert arrived.splitlines() == content.encode().splitlines()
    assert written.content.isascii()
    assert b"\n" not in written.content.replace(b"\r\n", b"")
    assert max(map(len, written.content.split(b"\r\n"))) <= 998
    assert not message.defects


@given(TEXTS, TEXTS)
@example("=?utf-8?q?encoded?=", "Ada, Countess")
@example("x" * 300, 'Quote " and \\ slash')
@example("wörter " * 30, "Jörg")
def test_no_subject_or_name_injects_a_header(subject: str, name: str) -> None:
    written = write(subject=subject, credentials={"from": "news@example.com", "senderName": name})
    message = read(written)

    assert set(message.keys()) <= {
        *("From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type"),
        "Content-Transfer-Encoding",
    }
    assert [one.addr_spec for one in message["From"].addresses] == ["news@example.com"]


@pytest.mark.parametrize(
    ("content", "html"),
    [
        ("<p>x</p>", "{}<p>x</p>"),
        ("<!DOCTYPE html><p>x</p>", "<!DOCTYPE html>{}<p>x</p>"),
        ("<html><head></head><p>x</p></html>", "<html><head></head>{}<p>x</p></html>"),
        ("<html><BODY class='a'><p>x</p></BODY></html>", "<html><BODY class='a'>{}<p>x</p></BODY></html>"),
        ("x", '{}<div style="white-space: pre-wrap">x</div>'),
    ],
)
def test_a_preheader_is_hidden_at_the_start_of_what_is_shown(content: str, html: str) -> None:
    message = read(write(content=content, overrides={"preheader": "Soon & <free>"}))

    shown, plain = message.get_body(("html",)), message.get_body(("plain",))
    hidden = '<div style="display:none;max-height:0;overflow:hidden;mso-hide:all">Soon &amp; &lt;free&gt;</div>'
    assert shown is not None
    assert plain is not None
    assert shown.get_content().rstrip() == html.format(hidden)
    assert plain.get_content().strip() == "x"


@pytest.mark.parametrize(
    ("content", "overrides", "html", "text"),
    [
        ("<p>x</p>", {"html": "<b>y</b>"}, "<b>y</b>", "y"),
        ("<p>x</p>", {"html": "<b>y</b>", "text": "z"}, "<b>y</b>", "z"),
        ("<p>x</p>", {"text": "z"}, "<p>x</p>", "z"),
        ("x", {"html": "y"}, "y", "y"),
        ("x", {"text": "z"}, None, "z"),
    ],
)
def test_html_and_text_of_a_trigger_replace_those_of_the_step(
    content: str, overrides: dict[str, str], html: str | None, text: str
) -> None:
    message = read(write(content=content, overrides=overrides))

    shown, plain = message.get_body(("html",)), message.get_body(("plain",))
    assert (None if shown is None else shown.get_content().strip()) == html
    assert plain is not None
    assert plain.get_content().strip() == text


@pytest.mark.parametrize("name", ["html", "text"])
def test_a_body_of_a_trigger_that_is_no_text_is_refused(name: str) -> None:
    with pytest.raises(SendFailure, match=f"'{name}' must be a text"):
        write(overrides={name: {"a": 1}})


def test_further_recipients_are_addressed_once() -> None:
    overrides = {"to": ["Ada@example.org", "bob@example.org"], "cc": "bob@example.org, eve@example.org"}
    message = read(write(overrides=overrides))

    assert [one.addr_spec for one in message["To"].addresses] == ["ada@example.org", "bob@example.org"]
    assert [one.addr_spec for one in message["Cc"].addresses] == ["eve@example.org"]


@given(st.lists(LABELS, min_size=1, max_size=4), st.lists(LABELS, min_size=1, max_size=4))
@example(["ada"], ["xn--bcher-kva", "example"])
@example(["ada"], ["example", "test"])
@example(["a" * 64], ["b" * 63, "com"])
def test_an_address_that_skips_the_validator_would_pass_it(user: list[str], host: list[str]) -> None:
    address = f"{'.'.join(user)}@{'.'.join(host)}"
    if not _PLAIN_ADDRESS.fullmatch(address):
        return
    try:
        found = validate_email(address, check_deliverability=False, globally_deliverable=False)
    except EmailNotValidError:
        assert find_address_problem(address) is not None
        return
    parsed = parse_address(address)
    assert (parsed.username, parsed.domain) == (found.ascii_local_part, found.ascii_domain)
