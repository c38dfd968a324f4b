"""Recording the results of deliveries where the store does not play along."""

import asyncio

import pytest

from clarion.db.query import sql
from clarion.errors import StoreUnavailable
from clarion.ids import WebhookEndpointId, find_id
from clarion.providers.definition.request import ProviderRequest
from clarion.providers.definition.result import ProviderAnswer
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from clarion.vault import Vault
from clarion.webhooks.deliveries import LEASE, claim_deliveries
from clarion.webhooks.model import RETRY_DELAYS, DeliveryAttempt
from clarion.webhooks.sender import WebhookSender
from tests.providers.loopback import answering
from tests.sending.test_sender import Unsteady, running
from tests.webhooks.support import Post, Receiver, list_deliveries, make_endpoint, receiver

DELETE_EVENTS = sql("DELETE FROM webhook_events WHERE environment_id = :environment_id")
LIST_ERRORS = sql("SELECT error_text FROM webhook_deliveries WHERE environment_id = :environment_id")


@pytest.mark.parametrize("error", [StoreUnavailable("out for a moment"), RuntimeError("a bug")])
async def test_results_that_cannot_be_recorded_together_are_recorded_later_or_one_by_one(
    post: Post, vault: Vault, gateway: ProviderGateway, hook: Receiver, error: Exception
) -> None:
    endpoint = await make_endpoint(post.api, hook.url)
    await post.happen(2)
    environment_id, now = post.api.environment.id, post.clock.now()
    place = (environment_id, WebhookEndpointId(find_id(endpoint["_id"]) or b""))
    claimed = await post.database.transaction(lambda db: claim_deliveries(db, place, vault, limit=8, now=now))
    store = Unsteady(post.database, error)
    store.failures = 1
    webhooks = WebhookSender(store, clock=post.clock, vault=vault, gateway=gateway)

    for delivery in claimed:
        delivery.attempt = DeliveryAttempt(status=200)
    await webhooks._pipeline._record_group(environment_id, claimed)

    assert store.failures == 0
    assert [one["status"] for one in await list_deliveries(post.api, endpoint)] == ["delivered"] * 2


class Broken(ProviderGateway):
    """Fails in a way that nobody expects, once."""

    failures = 1

    async def call(self, request: ProviderRequest) -> ProviderAnswer:
        if self.failures:
            self.failures -= 1
            raise RuntimeError("a bug")
        return await super().call(request)


async def test_a_delivery_that_fails_unexpectedly_is_an_attempt_and_is_tried_again(
    post: Post, vault: Vault, hook: Receiver
) -> None:
    endpoint = await make_endpoint(post.api, hook.url)
    await post.happen()
    async with Broken(EgressGuard(("127.0.0.0/8",)), clock=post.clock) as gateway:
        worker = post.with_worker(vault, gateway)
        await worker.work()
        (failed,) = await list_deliveries(post.api, endpoint)
        await worker.work(after=2 * RETRY_DELAYS[0])

    (delivered,) = await list_deliveries(post.api, endpoint)
    assert (failed["status"], failed["errorText"]) == ("queued", "RuntimeError in Clarion itself")
    assert (delivered["status"], delivered["attempts"], len(hook.received)) == ("delivered", 2, 1)


async def test_a_delivery_whose_event_is_no_longer_stored_fails_and_is_not_posted(post: Post, hook: Receiver) -> None:
    await make_endpoint(post.api, hook.url)
    await post.happen()
    scope = {"environment_id": post.api.environment.id}
    await post.database.transaction(lambda db: db.execute(DELETE_EVENTS, **scope))

    await post.work()

    (row,) = await post.database.read(lambda db: db.fetch(LIST_ERRORS, **scope))
    assert (row["error_text"], hook.received) == ("The event is older than events are kept", [])


async def test_one_result_that_cannot_be_recorded_does_not_keep_the_others_from_it(
    post: Post, vault: Vault, gateway: ProviderGateway, hook: Receiver
) -> None:
    endpoint = await make_endpoint(post.api, hook.url)
    await post.happen(3)
    environment_id, now = post.api.environment.id, post.clock.now()
    place = (environment_id, WebhookEndpointId(find_id(endpoint["_id"]) or b""))
    claimed = await post.database.transaction(lambda db: claim_deliveries(db, place, vault, limit=8, now=now))
    store = Unsteady(post.database, RuntimeError("a bug"))
    # All together, and the first of them alone.
    store.failures = 2
    webhooks = WebhookSender(store, clock=post.clock, vault=vault, gateway=gateway)

    for delivery in claimed:
        delivery.attempt = DeliveryAttempt(status=200)
    await webhooks._pipeline._record_group(environment_id, claimed)

    assert [one["status"] for one in await list_deliveries(post.api, endpoint)].count("delivered") == 2
    await post.work(after=LEASE)
    assert [one["status"] for one in await list_deliveries(post.api, endpoint)] == ["delivered"] * 3
    assert len(hook.received) == 1


async def test_a_process_ends_although_results_cannot_be_recorded(
    post: Post, vault: Vault, gateway: ProviderGateway
) -> None:
    store = Unsteady(post.database)

    async def go_out(request: bytes, writer: asyncio.StreamWriter) -> None:
        store.failures = 1000
        await answering(204, "")(request, writer)

    async with receiver(go_out) as hook:
        endpoint = await make_endpoint(post.api, hook.url)
        await post.happen()
        webhooks = WebhookSender(store, clock=post.clock, vault=vault, gateway=gateway)
        async with asyncio.timeout(20), running(webhooks):
            await hook.wait_for(1)
        (delivery,) = await list_deliveries(post.api, endpoint)
        assert delivery["status"] == "queued"

        hook.answer = answering(204, "")
        await post.work(after=LEASE)

    (delivery,) = await list_deliveries(post.api, endpoint)
    assert (delivery["status"], len(hook.received)) == ("delivered", 2)
