"""The W3C trace context in headers, and as it is stored."""

import pytest

from clarion.monitoring.traces.model import Span, TraceContext, parse_stored, read_headers
from clarion.monitoring.traces.tracer import Tracer

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
CONTEXT = TraceContext(bytes.fromhex(TRACE), bytes.fromhex(SPAN))


@pytest.mark.parametrize(("flags", "is_sampled"), [("01", True), ("00", False), ("03", True), ("fe", False)])
def test_the_context_of_a_caller_is_read(flags: str, is_sampled: bool) -> None:
    found = read_headers({b"traceparent": f"00-{TRACE}-{SPAN}-{flags}".encode()})

    assert found is not None
    assert (found.context, found.is_sampled) == (CONTEXT, is_sampled)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "malformed",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-01-more",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
    ],
)
def test_a_malformed_context_counts_as_none(text: str) -> None:
    assert read_headers({b"traceparent": text.encode()}) is None


def test_a_later_version_is_read_as_this_one() -> None:
    found = read_headers({b"traceparent": f"01-{TRACE}-{SPAN}-01-more".encode()})

    assert found is not None
    assert found.context == CONTEXT


@pytest.mark.parametrize(("state", "kept"), [("a=1, b=2", "a=1, b=2"), ("a=" + "x" * 600, ""), ("a=\x01", "")])
def test_the_state_is_kept_if_it_is_well_formed(state: str, kept: str) -> None:
    headers = {b"traceparent": f"00-{TRACE}-{SPAN}-01".encode(), b"tracestate": state.encode()}
    found = read_headers(headers)

    assert found is not None
    assert found.context.state == kept
    assert parse_stored(found.context.stored) == found.context


class Nowhere:
    def export(self, span: Span) -> None:
        raise AssertionError("no span ends here")

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(("share", "at_least", "at_most"), [(0, 0, 0), (1, 1000, 1000), (0.5, 350, 650)])
def test_a_share_of_the_triggers_without_a_context_is_traced(share: float, at_least: int, at_most: int) -> None:
    tracer = Tracer(Nowhere(), share=share)

    count = sum(tracer.start_request({}, can_start=True) is not None for _ in range(1000))

    assert at_least <= count <= at_most
    assert tracer.start_request({}, can_start=False) is None
