"""A call that may no longer be made when it has its connection is not made."""

import pytest

from clarion.clock import SystemClock
from clarion.providers.definition.request import ProviderCall
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.transport.egress import EgressGuard
from clarion.providers.transport.http1.client import Http1Client
from tests.providers.loopback import answering, web_server


@pytest.mark.parametrize("is_reused", [False, True])
async def test_a_call_whose_time_is_over_when_it_is_connected_sends_nothing(is_reused: bool) -> None:
    client = Http1Client(EgressGuard(("127.0.0.0/8",)), seconds=10, clock=SystemClock())
    asked: list[str] = []

    def can_start() -> bool:
        asked.append("asked")
        return False

    async with web_server(answering(200)) as server:
        url = server.url("/mail")
        if is_reused:
            await client.call(ProviderCall(method="POST", url=url, headers={}, content=b"first"))
        with pytest.raises(SendFailure) as refused:
            await client.call(ProviderCall(method="POST", url=url, headers={}, content=b"late", can_start=can_start))

        assert refused.value.kind is FailureKind.NO_CONNECTION
        assert not refused.value.is_ambiguous
        assert asked == ["asked"]
        assert not any(b"late" in one for one in server.requests)
    await client.close()
