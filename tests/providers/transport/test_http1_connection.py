"""Reading answers: in any pieces, with any framing, and nothing beyond the limits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.providers.transport.calls import MAX_ANSWER
from clarion.providers.transport.http1_connection import AnswerReader, BadAnswer, Http1Answer

OK = b"HTTP/1.1 200 OK\r\n"


def read(*pieces: bytes, is_closed: bool = False) -> tuple[Http1Answer | None, bool]:
    reader = AnswerReader()
    for one in pieces:
        reader.feed(one)
    if is_closed:
        reader.end()
    return reader.answer, reader.can_continue


@pytest.mark.parametrize(
    ("wire", "content"),
    [
        (OK + b"Content-Length: 5\r\n\r\nhello", b"hello"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nX-Trailer: a\r\n\r\n", b"hello"),
        (OK + b"Content-Length: 0\r\n\r\n", b""),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", b""),
        (b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", b"ok"),
        (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", b"ok"),
    ],
    ids=["length", "chunks", "empty", "204", "304", "no reason", "lines without a carriage return"],
)
def test_an_answer_is_complete_where_it_says_so_in_whatever_pieces_it_comes(wire: bytes, content: bytes) -> None:
    whole, can_continue = read(wire)
    pieces, _ = read(*(wire[at : at + 1] for at in range(len(wire))))

    assert whole is not None
    assert (whole.content, can_continue) == (content, True)
    assert "x-trailer" not in whole.headers
    assert whole == pieces
    assert read(wire[:-1], is_closed=True)[0] is None


@given(st.binary(max_size=300), st.lists(st.integers(1, 40), max_size=20))
def test_chunks_of_any_size_in_pieces_of_any_size_are_joined(content: bytes, sizes: list[int]) -> None:
    wire = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    rest = content
    for size in sizes:
        chunk, rest = rest[:size], rest[size:]
        wire += b"%x\r\n%s\r\n" % (len(chunk), chunk) if chunk else b""
    wire += b"%x\r\n%s\r\n" % (len(rest), rest) if rest else b""
    wire += b"0\r\n\r\n"
    pieces = []
    for size in sizes:
        pieces.append(wire[:size])
        wire = wire[size:]

    answer, _ = read(*filter(None, pieces), wire)

    assert answer is not None
    assert answer.content == content


def test_an_answer_without_a_length_ends_with_the_connection() -> None:
    pieces = (b"HTTP/1.0 200 OK\r\nX-Id: 7\r\n\r\nhel", b"lo")

    assert read(*pieces)[0] is None
    assert read(*pieces, is_closed=True) == (Http1Answer(200, {"x-id": "7"}, b"hello"), False)


@pytest.mark.parametrize(
    "head", [b"HTTP/1.1 200 OK\r\nConnection: close\r\n", b"HTTP/1.0 200 OK\r\n"], ids=["close", "HTTP/1.0"]
)
def test_a_server_that_closes_the_connection_gets_no_other_request(head: bytes) -> None:
    answer, can_continue = read(head + b"Content-Length: 2\r\n\r\nok")

    assert answer is not None
    assert not can_continue


@pytest.mark.parametrize("rest", [b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", b"\0\0"], ids=["answer", "garbage"])
def test_what_comes_after_the_answer_is_not_read_and_ends_the_connection(rest: bytes) -> None:
    answer, can_continue = read(OK + b"Content-Length: 2\r\n\r\nok" + rest)

    assert answer == Http1Answer(200, {"content-length": "2"}, b"ok")
    assert not can_continue


def test_announcements_before_the_answer_are_left_out() -> None:
    announced = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"

    answer, can_continue = read(announced + OK + b"Content-Length: 2\r\n\r\nok")

    assert (answer, can_continue) == (Http1Answer(200, {"content-length": "2"}, b"ok"), True)


def test_headers_of_the_same_name_are_joined_in_any_case() -> None:
    answer, _ = read(OK + b"X-A: 1\r\nx-a: 2\r\nX-Folded: b\r\n c\r\nX-Latin: \xe9\r\nContent-Length: 0\r\n\r\n")

    assert answer is not None
    assert (answer.headers["x-a"], answer.headers["x-latin"]) == ("1, 2", "é")
    assert answer.headers["x-folded"].split() == ["b", "c"]


@pytest.mark.parametrize("framing", ["length", "chunks", "connection"])
def test_a_long_answer_is_cut_and_ends_the_connection(framing: str) -> None:
    body = b"x" * (MAX_ANSWER + 10)
    wire = {
        "length": OK + b"Content-Length: %d\r\n\r\n" % len(body) + body,
        "chunks": OK + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n",
        "connection": OK + b"\r\n" + body,
    }[framing]

    answer, can_continue = read(*(wire[at : at + 1_000] for at in range(0, MAX_ANSWER + 1_000, 1_000)))

    assert answer is not None
    assert (len(answer.content), can_continue) == (MAX_ANSWER, False)


@pytest.mark.parametrize(
    "wire",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 OK\r\n\r\n",
        OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nok",
        OK + b"Content-Length: -1\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        OK + b"X: " + b"x" * 70_000,
        b"HTTP/1.1 100 Continue\r\n\r\n" * 4_000,
    ],
    ids=["SSH", "no status", "two lengths", "length", "chunk", "upgrade", "long headers", "endless announcements"],
)
def test_what_is_not_an_answer_is_refused(wire: bytes) -> None:
    with pytest.raises(BadAnswer):
        read(*(wire[at : at + 1_000] for at in range(0, len(wire), 1_000)))
