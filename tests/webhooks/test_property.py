"""An event arrives at least once in any sequence of failures, and every attempt is counted."""

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from clarion.clock import DAY, MINUTE, SECOND
from clarion.ids import WebhookEndpointId, find_id, id_text
from clarion.vault import Vault
from clarion.webhooks.deliveries import claim_deliveries
from tests.providers.loopback import answering
from tests.webhooks.support import Post, Receiver, list_deliveries, make_endpoint

ANSWERS = (200, 204, 410, 429, 500)
SINCE = "2020-01-01T00:00:00.000Z"
ACTIONS = st.one_of(
    st.sampled_from(["happen", "work", "crash", "disable", "enable", "replay"]),
    st.sampled_from([f"answer {status}" for status in ANSWERS]),
    st.sampled_from([f"pass_ {millis}" for millis in (6 * SECOND, 2 * MINUTE, DAY)]),
)


@dataclass
class Scene:
    """An endpoint and its receiver, with the operations and failures to apply to them."""

    post: Post
    vault: Vault
    hook: Receiver
    endpoint: dict[str, Any] = field(default_factory=dict)
    crashed: Counter[str] = field(default_factory=Counter)
    replayed: int = 0

    @property
    def path(self) -> str:
        return f"/v1/webhooks/endpoints/{self.endpoint['_id']}"

    async def begin(self) -> None:
        self.hook.received.clear()
        self.hook.answer = answering(200)
        self.endpoint = await make_endpoint(self.post.api, self.hook.url)

    async def act(self, action: str) -> None:
        name, _, value = action.partition(" ")
        await (getattr(self, name)(int(value)) if value else getattr(self, name)())

    async def happen(self) -> None:
        await self.post.happen()

    async def work(self) -> None:
        await self.post.work()

    async def crash(self) -> None:
        """A worker claims deliveries and crashes."""
        place = (self.post.api.environment.id, WebhookEndpointId(find_id(self.endpoint["_id"]) or b""))
        now = self.post.clock.now()
        claim = partial(claim_deliveries, place=place, vault=self.vault, limit=2, now=now)
        claimed = await self.post.database.transaction(claim)
        self.crashed.update(id_text(one.id) for one in claimed)

    async def disable(self) -> None:
        await self.post.api.patch(self.path, json={"active": False})

    async def enable(self) -> None:
        await self.post.api.patch(self.path, json={"active": True})

    async def replay(self) -> None:
        answer = await self.post.api.post(f"{self.path}/replay", json={"since": SINCE})
        self.replayed += answer.json()["replayed"]

    async def answer(self, status: int) -> None:
        self.hook.answer = answering(status)

    async def pass_(self, millis: int) -> None:
        self.post.clock.move(millis)

    async def end_well(self) -> list[dict[str, Any]]:
        """Let the receiver accept everything from now on; returns what was delivered to it."""
        await self.answer(200)
        await self.enable()
        answer = await self.post.api.post(f"{self.path}/replay", json={"since": SINCE, "status": "failed"})
        self.replayed += answer.json()["replayed"]
        for _ in range(3):
            await self.post.work(after=2 * DAY)
        deliveries = await list_deliveries(self.post.api, self.endpoint)
        await self.post.api.delete(self.path)
        return deliveries


@pytest.fixture
def scene(post: Post, vault: Vault, hook: Receiver) -> Scene:
    return Scene(post, vault, hook)


@settings(max_examples=20, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(actions=st.lists(ACTIONS, max_size=25))
async def test_every_event_arrives_in_the_end_and_every_attempt_is_counted(scene: Scene, actions: list[str]) -> None:
    scene.crashed.clear()
    scene.replayed = 0
    await scene.begin()
    for action in actions:
        await scene.act(action)

    deliveries = await scene.end_well()

    arrived = Counter(one.id for one in scene.hook.received)
    assert {one["status"] for one in deliveries} <= {"delivered"}
    assert set(arrived) == {one["eventId"] for one in deliveries}
    if not scene.replayed:
        attempts = {one["_id"]: one["attempts"] for one in deliveries}
        assert attempts == {one["_id"]: arrived[one["eventId"]] + scene.crashed[one["_id"]] for one in deliveries}
