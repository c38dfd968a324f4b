"""No field of a message makes another header: what is given is what a reader shows, in every provider."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from email import message_from_bytes
from email.header import decode_header, make_header
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import default
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from clarion.providers.definition.request import is_single_line, to_single_line
from clarion.providers.definition.result import SendFailure
from clarion.providers.email.addresses import bare_address, parse_address, quoted, split_addresses
from clarion.vocabulary import Channel
from tests.providers.contract.case import Case
from tests.providers.contract.golden import make_email_message, make_gateway
from tests.providers.contract.smtp_cases import SMTP_CASES, SmtpCase, play_mail
from tests.providers.contract.table import CASES
from tests.providers.contract.vendor import Received, play
from tests.providers.email.test_mime import read, write

THIEF = "=?utf-8?q?Hi=0d=0aReply-To:_thief=40example.net=0d=0a=0d=0aBody?="
ATTACKS = (
    THIEF,
    "=?utf-8?b?SGkNClJlcGx5LVRvOiB0aGllZkBleGFtcGxlLm5ldA==?=",
    f"Hi {THIEF} there",
    "Hi\r\nReply-To: thief@example.net",
    "Hi\nX-Evil: 1\n\nBody",
    "Hi\u2028X-Evil: 1",
    "Hi\x85X-Evil: 1",
    'x"; name="y\r\nX-Evil: 1',
    '" <thief@example.net>, "',
    f"{THIEF} ä",
    "x" * 1000,
    "wörter " * 40,
    "a  b   c " * 30,
    "=?=?a?b?c?=",
)
texts = st.one_of(
    st.sampled_from(ATTACKS),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=120),
    st.text('=?utf-8QqBb0da_ \r\n:<>@,"\\ä', max_size=80),
)
BUILT = [case for case in CASES if case.id in ("ses", "infobip-email")]
PASSING_ON = [case for case in CASES if case.channel is Channel.EMAIL and case not in BUILT]
OURS = {
    *("from", "to", "cc", "reply-to", "subject", "date", "message-id", "mime-version", "content-type"),
    *("content-transfer-encoding", "x-campaign", "list-unsubscribe", "dkim-signature"),
}


def parse_strictly(content: bytes) -> list[tuple[str, str]]:
    """Read headers by the letter of RFC 5322: CRLF alone ends a line, and a line that begins with a space goes on."""
    head, separator, _ = content.partition(b"\r\n\r\n")
    assert separator
    assert b"\r" not in head.replace(b"\r\n", b"")
    assert b"\n" not in head.replace(b"\r\n", b"")
    unfolded = re.sub(rb"\r\n(?=[ \t])", b"", head)
    found = []
    for line in unfolded.split(b"\r\n"):
        matched = re.fullmatch(rb"([!-9;-~]+): ?(.*)", line)
        assert matched, line
        found.append((matched[1].decode(), matched[2].decode()))
    assert max(map(len, head.split(b"\r\n"))) <= 998
    return found


def shown(value: str) -> str:
    """What a mail program shows of an unstructured header."""
    return str(make_header(decode_header(value)))


def shown_name(value: str) -> str:
    """What a mail program shows of the name before an address."""
    phrase = value.rpartition("<")[0].strip()
    return re.sub(r"\\(.)", r"\1", phrase[1:-1]) if phrase.startswith('"') else shown(phrase)


def overrides_of(text: str) -> dict[str, Any]:
    return {
        "subject": text,
        "senderName": text,
        "cc": [f"{quoted(text)} <grace@example.org>"],
        "replyTo": f"{quoted(text)} <help@example.org>",
        "to": [f"{quoted(text)} <bob@example.org>"],
        "headers": {"X-Campaign": text, "List-Unsubscribe": text},
        "preheader": text,
        "attachments": [{"name": text, "mime": "text/plain", "file": "SGVsbG8="}],
    }


def check(content: bytes, text: str) -> None:
    """Compare the headers of a message with what was given, by two readers."""
    strict = parse_strictly(content)
    message = message_from_bytes(content, policy=default)
    assert isinstance(message, EmailMessage)
    names = [name.lower() for name, _ in strict]
    assert set(names) <= OURS
    assert len(names) == len(set(names))
    assert [one.lower() for one in message] == names
    line = to_single_line(text)
    by_name = {name.lower(): value for name, value in strict}
    for name in ("subject", "x-campaign", "list-unsubscribe"):
        assert shown(by_name[name]).strip() == line
    for name, address in (("cc", "grace@example.org"), ("reply-to", "help@example.org"), ("from", "news@example.com")):
        (found,) = message[name].addresses
        assert found.addr_spec == address
        # The library shows a space between the encoded words of a name.
        assert "".join(found.display_name.split()) == "".join(line.split())
        assert shown_name(by_name[name]) == line
    assert [one.addr_spec for one in message["to"].addresses] == ["ada@example.org", "bob@example.org"]
    (file,) = message.iter_attachments()
    assert set(file.keys()) == {"Content-Type", "Content-Transfer-Encoding", "Content-Disposition"}
    assert file["Content-Disposition"].params["filename"] == (line or "attachment-1")
    assert file.get_payload(decode=True) == b"Hello"


@settings(deadline=None)
@given(texts)
@example(THIEF)
@example('x"; name="y')
@example("a\\b")
def test_what_is_given_is_what_two_readers_show(text: str) -> None:
    overrides = overrides_of(text)
    if not to_single_line(text):
        overrides["subject"] = ""
    try:
        written = write(overrides=overrides, subject="", content="<p>x</p>")
    except SendFailure as failure:
        pytest.fail(str(failure))
    check(written.content, text)


async def send(case: Case, overrides: dict[str, Any]) -> list[Received]:
    async with play(case.answers(case.success)) as vendor, make_gateway(vendor) as gateway:
        await gateway.send(case.id, case.make_outgoing(overrides=overrides))
    return vendor.requests


@pytest.mark.parametrize("case", BUILT, ids=lambda case: case.id)
async def test_providers_that_take_mime_get_the_headers_that_are_given(case: Case) -> None:
    for text in ATTACKS:
        (request,) = await send(case, overrides_of(text))
        body = json.loads(request.body)
        raw = body["Content"]["Raw"]["Data"] if case.id == "ses" else body["mimeMessage"]

        check(base64.b64decode(raw), text)


@pytest.mark.parametrize("case", SMTP_CASES[:2], ids=lambda case: case.id)
async def test_smtp_servers_get_the_headers_that_are_given(case: SmtpCase) -> None:
    for text in ATTACKS:
        outgoing = replace(make_email_message(case), overrides=overrides_of(text))
        async with play_mail(case) as (server, gateway):
            await gateway.send(case.id, outgoing)

        (envelope,) = server.envelopes
        assert envelope.rcpt_tos == ["ada@example.org", "bob@example.org", "grace@example.org"]
        check(envelope.original_content or b"", text)


@pytest.mark.parametrize("case", PASSING_ON, ids=lambda case: case.id)
async def test_providers_that_write_headers_themselves_get_single_lines(case: Case) -> None:
    for text in ATTACKS:
        given = overrides_of(text)
        if case.id == "braze":
            # It takes neither copies nor files.
            given = {name: value for name, value in given.items() if name not in ("to", "cc", "attachments")}
        for request in await send(case, given):
            assert not {"x-evil", "reply-to", "list-unsubscribe"} & {name.lower() for name in request.headers}
            assert [one for one in values_of(request) if not is_single_line(one)] == []


def values_of(request: Received) -> list[str]:
    """Return all texts of a request but those that are the body of the mail."""
    if request.headers.get("content-type", "").startswith("application/json"):
        return list(_walk(json.loads(request.body)))
    kind = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
    parts = [one for one in message_from_bytes(kind + request.body).walk() if not one.is_multipart()]
    fields = {str(one.get_param("name", header="content-disposition")): one.get_payload(decode=True) for one in parts}
    assert not {"X-Evil", "reply-to"} & {name for one in parts for name in one}
    return [str(value) for name, value in fields.items() if name not in ("text", "html")]


def _walk(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for member, item in value.items():
            yield from _walk(item, str(member))
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, name)
    elif isinstance(value, str) and not re.search("html|text|body|value", name, re.IGNORECASE):
        yield value


NAMED = {
    "Jörg Müller <joerg@example.org>": "Jörg Müller",
    "J. R. Doe <joerg@example.org>": "J. R. Doe",
    '"Doe, John" <joerg@example.org>': "Doe, John",
    '"A \\"B\\" C" <joerg@example.org>': 'A "B" C',
    "<joerg@example.org>": "",
    "joerg@example.org": "",
    f"{THIEF} <joerg@example.org>": THIEF,
}


@pytest.mark.parametrize(("text", "name"), NAMED.items())
def test_names_of_addresses_are_read_as_they_are_meant(text: str, name: str) -> None:
    assert parse_address(text) == Address(name, "joerg", "example.org")
    assert split_addresses(f"{text}, ada@example.org") == [text, " ada@example.org"]
    assert bare_address(text) == "joerg@example.org"


@pytest.mark.parametrize(
    "text", ["Ada <b> <c@example.org>", "Ada <>", "Ada <c@example.org", "=?utf-8?q?a?=@example.org"]
)
def test_what_is_no_address_with_a_name_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_address(text)


@pytest.mark.parametrize("name", ["Jörg Müller", "J. R. Doe", "Doe, John", THIEF, 'A "B" C'])
@pytest.mark.parametrize("case", [*BUILT, *PASSING_ON], ids=lambda case: case.id)
async def test_names_reach_every_provider(case: Case, name: str) -> None:
    written = f"{quoted(name)} <person@example.org>"
    overrides = {"from": written} if case.id == "braze" else {"from": written, "cc": [written], "replyTo": written}
    (*_, request) = await send(case, overrides)

    if case.id == "mailersend":
        # It refuses commas in names.
        name = name.replace(",", "")
    assert name in find_names(request) or quoted(name) in find_names(request)


def find_names(request: Received) -> str:
    """Return all names of a request, each on a line, whether they are MIME or not."""
    if not request.headers.get("content-type", "").startswith("application/json"):
        return request.body.decode()
    body = json.loads(request.body)
    raw = body.get("mimeMessage") or body.get("Content", {}).get("Raw", {}).get("Data")
    if raw is None:
        return "\n".join(_walk(body))
    headers = dict(parse_strictly(base64.b64decode(raw)))
    return shown_name(headers["From"])


@pytest.mark.parametrize(
    ("mime", "is_taken"),
    [
        ("application/pdf", True),
        ("text/calendar; method=REQUEST", True),
        ('text/plain; charset="utf-8"', True),
        ("multipart/mixed", False),
        ("pdf", False),
        (f"text/{THIEF}", False),
        ('text/plain; x="y\\" z', False),
    ],
)
def test_the_type_of_a_file_is_one_or_refused(mime: str, is_taken: bool) -> None:
    overrides = {"attachments": [{"name": "a", "mime": mime, "file": "SGVsbG8="}]}
    if is_taken:
        (file,) = read(write(overrides=overrides)).iter_attachments()
        assert file.get_content_type() == mime.partition(";")[0]
    else:
        with pytest.raises(SendFailure, match="has the type"):
            write(overrides=overrides)


@pytest.mark.parametrize("cid", [THIEF, "a>b", "ä", "x" * 300])
def test_the_id_of_a_picture_that_is_no_header_is_refused(cid: str) -> None:
    with pytest.raises(SendFailure, match="cid"):
        write(overrides={"attachments": [{"name": "a", "cid": cid, "file": "SGVsbG8="}]})


def test_a_header_reply_to_is_read_as_addresses() -> None:
    message = read(write(overrides={"headers": {"reply-to": "Jörg <joerg@example.org>"}, "replyTo": "a@example.org"}))

    assert [str(one) for one in message["Reply-To"].addresses] == ["Jörg <joerg@example.org>"]
