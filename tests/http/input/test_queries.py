"""Query strings."""

from typing import Annotated

import pytest
from msgspec import Meta, field

from clarion.errors import Invalid, Malformed
from clarion.http.input.queries import make_query_reader
from clarion.http.input.unknown import Contract
from clarion.http.wire import Wire
from clarion.vocabulary import Channel


class Filter(Wire):
    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    include_cursor: bool = False
    read: bool | None = None
    name: str | None = None
    channel: Channel | None = None
    transaction_id: list[str] = field(default_factory=list)


_read = make_query_reader(Filter, Contract.PUBLISHED)


def read(query: bytes) -> Filter:
    return _read(query, [])


def test_an_empty_query_gives_the_defaults() -> None:
    assert read(b"") == Filter()


def test_numbers_may_be_floats_and_lists_have_three_forms() -> None:
    assert read(b"limit=3.0").limit == 3
    assert read(b"transactionId=a").transaction_id == ["a"]
    assert read(b"transactionId=a&transactionId=b").transaction_id == ["a", "b"]
    assert read(b"transactionId[]=a&transactionId%5B%5D=b").transaction_id == ["a", "b"]


def test_texts_are_decoded_and_unknown_names_ignored() -> None:
    query = read(b"name=Ada+L%C3%B6we%20%26&other=1&read=false&includeCursor=true")

    assert (query.name, query.read, query.include_cursor) == ("Ada Löwe &", False, True)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b"limit=many", "limit"),
        (b"limit=0", "limit"),
        (b"limit=101", "limit"),
        (b"limit=1.5", "limit"),
        (b"limit=99999999999999999999", "limit"),
        (b"includeCursor=yes", "includeCursor"),
        (b"includeCursor=1", "includeCursor"),
        (b"channel=pigeon", "channel"),
    ],
)
def test_a_value_that_is_not_valid_is_reported_by_name(raw: bytes, name: str) -> None:
    with pytest.raises(Invalid) as refusal:
        read(raw)

    assert list(refusal.value.problems) == [name]


def test_all_problems_are_reported_together() -> None:
    with pytest.raises(Invalid) as refusal:
        read(b"limit=x&read=maybe&channel=y")

    assert set(refusal.value.problems) == {"limit", "read", "channel"}


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b"read=maybe&read=false", "read"),
        (b"read=true&read[]=false", "read"),
        (b"limit=1000&limit=10", "limit"),
        (b"name=Ada&name=Bob", "name"),
        (b"channel=email&channel=sms", "channel"),
    ],
)
def test_a_parameter_with_one_value_is_given_once(raw: bytes, name: str) -> None:
    with pytest.raises(Invalid) as refusal:
        read(raw)

    (problem,) = refusal.value.problems[name]
    assert problem.message == "must be given once, not 2 times"


def test_of_a_provider_that_repeats_a_parameter_the_last_value_counts() -> None:
    assert make_query_reader(Filter, Contract.FOREIGN)(b"name=Ada&name=Bob&limit=1&limit=2", []) == Filter(
        name="Bob", limit=2
    )


@pytest.mark.parametrize("raw", [b"name=%ff", b"name=%00", b"%c3=1"])
def test_a_query_that_is_not_utf8_is_malformed(raw: bytes) -> None:
    with pytest.raises(Malformed):
        read(raw)


class Grouped(Wire):
    tags: tuple[tuple[str, ...], ...] = ()
    words: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("query", "tags"),
    [
        (b"tags=a", (("a",),)),
        (b"tags[]=a&tags[]=b", (("a", "b"),)),
        (b"tags%5B%5D=a&tags%5B%5D=b", (("a", "b"),)),
        (b"tags[0]=a&tags[1]=b", (("a", "b"),)),
        (b"tags[0][]=a&tags[0][]=b&tags[1][]=c", (("a", "b"), ("c",))),
        (b"tags[1][0]=c&tags[0][0]=a&tags[0][1]=b", (("a", "b"), ("c",))),
        (b"tags[]=a&tags[0][]=b", (("a",), ("b",))),
        (b"words[0][]=a", ()),
        (b"tags[", ()),
        (b"tags[x][]=a", ()),
    ],
)
def test_arrays_of_arrays_are_read_by_the_number_of_their_group(
    query: bytes, tags: tuple[tuple[str, ...], ...]
) -> None:
    assert make_query_reader(Grouped, Contract.PUBLISHED)(query, []).tags == tags
