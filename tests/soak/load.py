"""Mixed load: triggers of several kinds, inboxes that are read, sockets, and a provider that fails now and then."""

import asyncio
import itertools
import random
from typing import Any

import httpx
from websockets.exceptions import WebSocketException

from tests.inbox.sockets.clients import PlainClient
from tests.processes import Process
from tests.providers.loopback import answering

KEY = "soak-key-of-development"
APPLICATION = "soak-application"
PEOPLE = 50
PAUSE_SECONDS = 0.04
"""Between two triggers of one client."""


def _step(kind: str, name: str, **controls: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "controlValues": controls}


_INBOX = _step("in_app", "Inbox", body="Hello {{payload.n}}")
_MAIL = _step("email", "Mail", subject="Hello", body="<p>Hello {{payload.n}}</p>")
WORKFLOWS = {
    "now": [_INBOX],
    "mail": [_MAIL, _INBOX],
    "digest": [_INBOX, _step("digest", "Digest", type="regular", amount=10, unit="minutes"), _MAIL],
    "later": [_step("delay", "Delay", type="regular", amount=20, unit="minutes"), _INBOX],
}
WEIGHTS = {"now": 50, "mail": 20, "digest": 20, "later": 9, "crowd": 1}


async def answer_now_and_then(request: bytes, writer: asyncio.StreamWriter) -> None:
    """Answer as a provider that has trouble with one message in ten."""
    chance = random.random()
    if chance < 0.04:
        await answering(500)(request, writer)
    elif chance < 0.07:
        await answering(429, Retry_After="60")(request, writer)
    elif chance < 0.1:
        writer.close()
    else:
        await answering(200)(request, writer)


async def prepare(process: Process, mail_url: str) -> None:
    async with process.client(KEY) as client:
        credentials = {"webhookUrl": mail_url, "secretKey": "s", "from": "news@example.com"}
        account = {"providerId": "email-webhook", "channel": "email", "active": True, "credentials": credentials}
        people = [{"subscriberId": f"p{n}", "email": f"p{n}@example.com"} for n in range(PEOPLE)]
        made = [
            await client.post("/v1/integrations", json=account),
            await client.post("/v1/webhooks/endpoints", json={"url": mail_url}),
            await client.post("/v1/subscribers/bulk", json={"subscribers": people}),
            await client.post(
                "/v2/topics/crowd/subscriptions", json={"subscriberIds": [f"p{n}" for n in range(PEOPLE)]}
            ),
        ]
        for key, steps in WORKFLOWS.items():
            body = {"name": key, "workflowId": key, "active": True, "steps": steps}
            made.append(await client.post("/v2/workflows", json=body))
        assert {one.status_code for one in made} <= {200, 201}, [one.text for one in made]


class Load:
    """Runs until it is stopped, and keeps what was accepted and how long it took."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._stopping = asyncio.Event()
        self._numbers = itertools.count()
        self.accepted: list[str] = []
        self.refused: list[int] = []
        self.seconds: list[float] = []
        """Of the triggers since it was emptied last."""
        self.events = 0
        """What sockets were told."""

    def stop(self) -> None:
        self._stopping.set()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(2):
                tasks.create_task(self._trigger())
            for number in range(3):
                tasks.create_task(self._read(f"p{number}"))
                tasks.create_task(self._listen(f"p{number}"))

    async def _trigger(self) -> None:
        loop = asyncio.get_running_loop()
        async with self._process.client(KEY) as client:
            while not self._stopping.is_set():
                number = next(self._numbers)
                (kind,) = random.choices(list(WEIGHTS), list(WEIGHTS.values()))
                to: Any = f"p{random.randrange(PEOPLE)}"
                if kind == "crowd":
                    kind, to = "now", {"type": "Topic", "topicKey": "crowd"}
                body = {"name": kind, "to": to, "transactionId": f"soak-{number}", "payload": {"n": number}}
                headers = {"Idempotency-Key": f"soak-{number}"}
                started = loop.time()
                response = await client.post("/v1/events/trigger", json=body, headers=headers)
                self.seconds.append(loop.time() - started)
                if response.status_code == 201:
                    self.accepted.append(f"soak-{number}")
                else:
                    self.refused.append(response.status_code)
                await asyncio.sleep(PAUSE_SECONDS)

    async def _open_session(self, client: httpx.AsyncClient, key: str) -> str:
        body = {"applicationIdentifier": APPLICATION, "subscriberId": key}
        token: str = (await client.post("/v1/inbox/session", json=body)).json()["data"]["token"]
        return token

    async def _read(self, key: str) -> None:
        """Look at the inbox as a page does, and mark all as read now and then."""
        async with self._process.client(KEY) as client:
            token = await self._open_session(client, key)
            client.headers["Authorization"] = f"Bearer {token}"
            for turn in itertools.count(1):
                if self._stopping.is_set():
                    return
                listed = await client.get("/v1/inbox/notifications?limit=10")
                assert listed.status_code == 200, listed.text
                if turn % 20 == 0:
                    await client.post("/v1/inbox/notifications/read", json={})
                await asyncio.sleep(0.2)

    async def _listen(self, key: str) -> None:
        """Keep a socket open for a while, then open another."""
        async with self._process.client(KEY) as client:
            while not self._stopping.is_set():
                token = await self._open_session(client, key)
                try:
                    async with PlainClient.open(self._process.address, token) as socket:
                        for _ in range(200):
                            if self._stopping.is_set():
                                return
                            async with asyncio.timeout(1):
                                await socket.connection.recv()
                            self.events += 1
                except (TimeoutError, WebSocketException, OSError):
                    continue
