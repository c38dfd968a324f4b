"""What the demo page asks for; served only where the demo is."""

from collections.abc import Mapping

from clarion.bus import Signal
from clarion.db.port import Connection
from clarion.errors import Forbidden
from clarion.http.operation import DetachedCall, Transaction, operation
from clarion.settings.addresses import is_loopback_host
from clarion.web import demo
from clarion.web.wire import DemoState, DemoTriggered

_FORWARDING = (b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip", b"via")


@operation("GET", "/demo/state", public=True, transaction=Transaction.NONE)
async def get_demo_state(call: DetachedCall) -> DemoState:
    """Show whose inbox the demo page shows."""
    check_local(call.request.headers)

    async def read(db: Connection) -> DemoState:
        environment = await demo.get_demo_environment(db)
        return DemoState(
            environment=environment.name,
            application_identifier=environment.identifier,
            subscriber_id=demo.SUBSCRIBER_KEY,
            needs_hash=await demo.needs_hash(db, environment.id, call.services.vault),
        )

    return await call.database.read(read)


@operation("POST", "/demo/trigger", public=True, status=201, transaction=Transaction.NONE)
async def trigger_demo(call: DetachedCall) -> DemoTriggered:
    """Trigger the demo workflow for the person of the demo page."""
    check_local(call.request.headers)
    transaction = await call.database.transaction(lambda db: demo.trigger_demo(db, call.now))
    call.services.bus.publish(Signal.WORK)
    return DemoTriggered(transaction_id=transaction)


def check_local(headers: Mapping[bytes, bytes]) -> None:
    """Refuse all but the demo page in a browser on this machine.

    Another site may make a browser send requests here, and a proxy on this machine may pass on those of others.
    """
    if headers.get(b"sec-fetch-site", b"same-origin") != b"same-origin" or any(name in headers for name in _FORWARDING):
        raise Forbidden("The demo answers only its own page, opened directly on this machine")
    host = headers.get(b"host", b"").decode("latin-1")
    if not is_loopback_host(host):
        raise Forbidden(f"The demo answers only on this machine: open http://127.0.0.1 or http://localhost, not {host}")
