"""Forms with files: what is read, and what is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.errors import Invalid, Malformed, NotJson, RequestError
from clarion.http.input.forms import MAX_PARTS, MAX_TEXT, make_form_reader
from clarion.http.input.unknown import Contract, InputWarning
from clarion.http.wire import UploadedFile, Wire
from clarion.vocabulary import Channel

TYPE = b"multipart/form-data; boundary=xyz"


class SampleForm(Wire):
    given_name: str
    channel: Channel = Channel.EMAIL
    files: list[UploadedFile]


class OneFileForm(Wire):
    file: UploadedFile


read_sample = make_form_reader(SampleForm, Contract.OWN)


def part(name: str, content: bytes, *, file_name: str | None = None, more: str = "") -> bytes:
    disposition = f'form-data; name="{name}"' + ("" if file_name is None else f'; filename="{file_name}"')
    return f"--xyz\r\nContent-Disposition: {disposition}\r\n{more}\r\n".encode() + content + b"\r\n"


def form(*parts: bytes) -> bytes:
    return b"".join(parts) + b"--xyz--\r\n"


NAME = part("givenName", "Ada ä".encode())
FILE = part("files", b'{"a": "\r\n--xy"}', file_name="en_US.json")


def test_texts_and_files_are_read() -> None:
    body = form(NAME, part("channel", b"sms"), FILE, part("files[]", b"", file_name="ü.json"))
    read = read_sample(TYPE, body, [])
    assert (read.given_name, read.channel) == ("Ada ä", Channel.SMS)
    assert [(file.name, file.content) for file in read.files] == [
        ("en_US.json", b'{"a": "\r\n--xy"}'),
        ("ü.json", b""),
    ]


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (form(FILE), {"givenName"}),
        (form(NAME), {"files"}),
        (form(NAME, NAME, FILE), {"givenName"}),
        (form(NAME, FILE, part("other", b"x")), {"other"}),
        (form(NAME, FILE, part("channel", b"pigeon")), {"channel"}),
        (form(NAME, part("files", b"{}")), {"files"}),
        (form(part("givenName", b"x", file_name="a.txt"), FILE), {"givenName"}),
        (form(part("givenName", b"\xff"), FILE), {"givenName"}),
        (form(part("givenName", b"a\0b"), FILE), {"givenName"}),
        (form(part("givenName", b"x" * (MAX_TEXT + 1)), FILE), {"givenName"}),
    ],
)
def test_every_problem_is_named_by_its_field(body: bytes, names: set[str]) -> None:
    with pytest.raises(Invalid) as refused:
        read_sample(TYPE, body, [])
    assert names <= set(refused.value.problems)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"--xyz",
        form(NAME, FILE)[:-6],
        b"--abc\r\n\r\n",
        b"--xyz\r\n\r\nx\r\n--xyz--\r\n",
        form(part("givenName", b"x", more="Content-Transfer-Encoding: base64\r\n"), FILE),
        form(part("givenName", b"x", more="X-Long: " + "x" * 5_000 + "\r\n"), FILE),
        form(*[NAME] * (MAX_PARTS + 1)),
    ],
)
def test_what_is_no_form_is_refused(body: bytes) -> None:
    with pytest.raises(Malformed):
        read_sample(TYPE, body, [])


@pytest.mark.parametrize("content_type", [b"", b"application/json", b"multipart/form-data", b"text/html; boundary=xyz"])
def test_another_content_type_is_refused(content_type: bytes) -> None:
    with pytest.raises(NotJson, match="multipart/form-data"):
        read_sample(content_type, form(NAME, FILE), [])


def test_a_second_file_is_refused_where_there_is_one() -> None:
    body = form(part("file", b"a", file_name="a"), part("file", b"b", file_name="b"))
    with pytest.raises(Invalid):
        make_form_reader(OneFileForm, Contract.OWN)(TYPE, body, [])


def test_unknown_fields_of_published_forms_are_warned_of() -> None:
    warnings: list[InputWarning] = []
    read = make_form_reader(SampleForm, Contract.PUBLISHED)
    read(TYPE, form(NAME, FILE, part("other", b"x")), warnings)
    assert [one.path for one in warnings] == ["other"]


@given(st.binary(max_size=300), st.sampled_from([TYPE, b"multipart/form-data; boundary=" + b"a" * 300]))
def test_no_body_breaks_the_reader(body: bytes, content_type: bytes) -> None:
    for whole in (body, form(NAME, FILE) + body, b"--xyz\r\n" + body + b"\r\n--xyz--\r\n"):
        result: Any = None
        try:
            result = read_sample(content_type, whole, [])
        except RequestError:
            continue
        assert isinstance(result, SampleForm)
