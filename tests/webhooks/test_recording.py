"""Recording the results of deliveries where the store does not play along."""

import pytest

from clarion.engine.webhook_sender import WebhookSender
from clarion.errors import StoreUnavailable
from clarion.ids import WebhookEndpointId, find_id
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vault import Vault
from clarion.webhooks.deliveries import claim_deliveries
from clarion.webhooks.model import Attempt
from tests.engine.sending.test_sender import Unsteady
from tests.webhooks.support import Post, Receiver, list_deliveries, make_endpoint


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

    await webhooks._record(environment_id, {one: Attempt(status=200) for one in claimed})

    assert store.failures == 0
    assert [one["status"] for one in await list_deliveries(post.api, endpoint)] == ["delivered"] * 2
