"""A person whose data is in every table that can have any, and a look for what is left of them."""

import base64
from hashlib import blake2b
from typing import Any

from clarion.clock import MINUTE
from clarion.db.port import Connection, Database, Row
from clarion.db.query import sql
from clarion.db.schema import metadata
from clarion.ids import find_id
from clarion.receipts.store import INSERT_TICKETS
from clarion.vault import Vault
from tests.conftest import VAULT_KEYS
from tests.engine.support import World, in_app, step
from tests.support import Api

KEY = "canary-key"
PHONE = "+15550100999"
HOOK = "http://127.0.0.1:9/hook"
FILE = base64.b64encode(b"canary-file" * 200).decode()

ANY_MESSAGE = sql("""
    SELECT id FROM messages WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id LIMIT 1
""")

Places = dict[tuple[str, str], list[str]]
"""Columns, and what was found in them."""


async def post(api: Api, path: str, body: dict[str, Any], **headers: str) -> dict[str, Any]:
    response = await api.post(path, json=body, headers=headers)
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def make_history(world: World, database: Database) -> None:
    """Let everything happen to a person that leaves data, and some of it to another."""
    api = world.api
    await post(api, "/v1/webhooks/endpoints", {"url": HOOK})
    person = {
        "subscriberId": KEY,
        "firstName": "canary-first",
        "lastName": "canary-last",
        "email": "canary@example.com",
        "phone": PHONE,
        "avatar": "https://example.com/canary.png",
        "data": {"note": "canary-data"},
    }
    await api.post("/v2/subscribers", json=person, headers={"Idempotency-Key": "canary-create"})
    await _make_channels(api)
    await post(api, "/v2/topics/news/subscriptions", {"subscriberIds": [KEY, "bob"]})
    for context in (None, {"tenant": "canary-tenant"}):
        body = {"channels": {"sms": False}, "context": context}
        await api.patch(f"/v2/subscribers/{KEY}/preferences", json=body)
    await database.transaction(lambda db: _connect_chat(db, api))
    throttle = step("throttle", type="fixed", amount=1, unit="hours", threshold=9)
    digest = step("digest", type="regular", amount=1, unit="hours")
    mail = step("email", subject="Hi {{subscriber.firstName}}", body="{{payload.text}}")
    await world.make_workflow(in_app("{{payload.text}}"), throttle, mail, digest, in_app("later"))
    await post(api, "/v1/suppressions", {"channel": "sms", "address": PHONE, "detail": "canary-detail"})
    given: dict[str, Any] = {
        "payload": {"text": "canary-payload", "attachments": [{"file": FILE, "name": "a.txt", "mime": "text/plain"}]},
        "overrides": {"email": {"to": ["canary-other@example.com"]}},
        "context": {"tenant": "canary-tenant"},
    }
    await world.trigger(KEY, transactionId="canary-transaction", **given)
    await world.trigger([KEY, "bob"], payload={"text": "for both"})
    await world.trigger({"type": "Topic", "topicKey": "news"}, payload={"text": "for the topic"})
    await world.work()
    await _answer_question(world)
    await post(api, "/v1/suppressions", {"channel": "email", "address": "canary@example.com"})
    await database.transaction(lambda db: _await_receipt(db, api))
    await world.trigger(KEY, payload={"text": "canary-queued"})
    schedule = {"identifier": "daily", "name": "Daily", "workflowId": "welcome", "to": [KEY, "bob"], "cron": "@daily"}
    await post(api, "/v1/schedules", schedule)


async def _answer_question(world: World) -> None:
    choices, timeout = [{"value": "yes", "label": "{{payload.text}}"}], {"amount": 1, "unit": "hours"}
    await world.make_workflow(step("ask", question="Yes?", choices=choices, timeout=timeout), key="asked")
    transaction = (await world.trigger(KEY, name="asked", payload={"text": "canary-answer"}))["transactionId"]
    await world.work()
    (run,) = await world.events(transactionId=transaction)
    await post(world.api, f"/v1/runs/{run['_id']}/answers", {"stepId": "ask", "choice": "yes"})


async def _make_channels(api: Api) -> None:
    await post(api, "/v1/integrations", {"providerId": "svc-email", "channel": "email", "active": True})
    expo = {"providerId": "expo", "channel": "push", "active": True, "credentials": {"apiKey": "k"}}
    await post(api, "/v1/integrations", expo)
    tokens = {"providerId": "expo", "credentials": {"deviceTokens": ["canary-token"]}}
    response = await api.patch(f"/v1/subscribers/{KEY}/credentials", json=tokens)
    assert response.status_code == 200, response.text


async def _connect_chat(db: Connection, api: Api) -> None:
    """Give the person a workspace of their own and an address in it."""
    subscriber = find_id((await api.get(f"/v2/subscribers/{KEY}")).json()["_id"])
    other = bytes(16)
    # Sealed as such texts are, because other tests that share the store look whether all can be opened.
    sealed = Vault.parse(VAULT_KEYS).seal("canary", context=api.environment.id + other)
    scope = {"environment_id": api.environment.id, "subscriber_id": subscriber, "other": other, "now": 0}
    for table, names, values in (
        ("channel_connections", "workspace, auth", "'{}', :sealed"),
        ("channel_endpoints", "type, endpoint", "'slack_user', :sealed"),
    ):
        await db.execute(
            sql(f"""
                INSERT INTO {table}
                (environment_id, id, identifier, integration_id, subscriber_id, context_keys, created_at, updated_at,
                {names})
                VALUES (:environment_id, :other, 'canary-endpoint', :other, :subscriber_id, '[]', :now, :now, {values})
            """),
            **scope,
            sealed=sealed,
        )


async def _await_receipt(db: Connection, api: Api) -> None:
    """Make one message a push whose receipt is polled for."""
    subscriber = (await api.get(f"/v2/subscribers/{KEY}")).json()["_id"]
    scope = {"environment_id": api.environment.id, "subscriber_id": find_id(subscriber)}
    message = await db.fetch_one(ANY_MESSAGE, **scope)
    assert message is not None
    await db.execute(
        sql("UPDATE messages SET channel = 'push' WHERE environment_id = :environment_id AND id = :id"),
        environment_id=api.environment.id,
        id=message["id"],
    )
    integration = bytes(16)
    row = (api.environment.id, integration, "canary-ticket", message["id"], "canary-token", False, 0, 10 * MINUTE)
    await db.insert_many(INSERT_TICKETS, [row])


def list_marks(exported: list[dict[str, Any]]) -> list[bytes]:
    """What names the person, their rows or their files."""
    named = {"subscriber", "run", "job", "message"}
    ids = [one["data"]["_id"] for one in exported if one["kind"] in named]
    file_hash = blake2b(FILE.encode(), digest_size=32).digest()
    texts = [b"canary", b"5550100999", FILE[:40].encode(), file_hash]
    return texts + [mark for one in ids for mark in (one.encode(), find_id(one) or b"")]


async def find_traces(database: Database, api: Api, marks: list[bytes]) -> Places:
    """Look through every column of every table of the environment."""
    found: Places = {}
    for table in metadata.sorted_tables:
        where = "WHERE environment_id = :environment_id" if "environment_id" in table.columns else ""
        bound = {"environment_id": api.environment.id} if where else {}
        rows = await database.read(lambda db, t=table.name, w=where, b=bound: _fetch(db, t, w, b))  # type: ignore[misc]
        for row in rows:
            for name, value in row.items():
                raw = value if isinstance(value, bytes) else str(value).encode()
                if any(mark in raw for mark in marks):
                    found.setdefault((table.name, name), []).append(str(value)[:200])
    return found


async def _fetch(db: Connection, table: str, where: str, bound: dict[str, Any]) -> list[Row]:
    return list(await db.fetch(sql(f"SELECT * FROM {table} {where}"), **bound))


async def export_all(api: Api, key: str, limit: int = 1000) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    after: str | None = None
    while True:
        params: dict[str, Any] = {"limit": limit} | ({"after": after} if after else {})
        response = await api.get(f"/v2/subscribers/{key}/export", params=params)
        assert response.status_code == 200, response.text
        page = response.json()
        assert len(page["data"]) <= limit
        items += page["data"]
        after = page["next"]
        if after is None:
            return items
