"""Headers that would change the form of a request."""

import pytest

from clarion.clock import SystemClock
from clarion.providers.definition.request import ProviderCall
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.transport.egress import EgressGuard
from clarion.providers.transport.http1.client import Http1Client
from clarion.providers.transport.http2 import Http2Client
from tests.providers.loopback import answering, web_server


@pytest.mark.parametrize("kind", [Http1Client, Http2Client])
@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("Content-Length", "0", "'Content-Length' is set by Clarion and cannot be overridden"),
        ("transfer-encoding", "chunked", "'transfer-encoding' is set by Clarion and cannot be overridden"),
        ("X: y\r\nZ", "1", "cannot be the name of a header"),
        ("", "1", "cannot be the name of a header"),
        ("X-Y", "a\r\nZ: b", "'X-Y' has control characters"),
    ],
)
async def test_they_are_refused_before_anything_is_sent(
    kind: type[Http1Client | Http2Client], name: str, value: str, text: str
) -> None:
    client = kind(EgressGuard(("127.0.0.0/8",)), seconds=10, clock=SystemClock())
    async with web_server(answering(200)) as server:
        with pytest.raises(SendFailure, match=text) as failure:
            await client.call(ProviderCall(method="POST", url=server.url(), headers={name: value}, content=b"{}"))

        assert (failure.value.kind, failure.value.is_ambiguous) == (FailureKind.PERMANENT, False)
        assert server.connections == 0
    await client.close()
