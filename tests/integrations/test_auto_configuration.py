"""Registering the address of receipts at providers, which speak their protocols on loopback; on both databases."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest
from novu_py import Novu

from clarion.app import Application
from clarion.clock import ManualClock, Millis
from clarion.db.leases import claim_lease
from clarion.db.port import Database
from clarion.ids import IntegrationId, find_id, random_bytes
from clarion.integrations.auto_configuration import LEASE, lease_name
from clarion.integrations.store import get_integration
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from clarion.settings.model import Settings
from clarion.vault import Vault
from tests.providers.contract.vendor import Received, Reply, Vendor, play
from tests.support import Api

PUBLIC = "https://clarion.example.com"
KEYS = {"sendgrid": "the-public-key", "resend": "whsec_the-signing-secret", "mailgun": "the-http-signing-key"}
CREDENTIALS = {
    "sendgrid": {"apiKey": "SG.the-secret-key", "from": "a@example.com", "senderName": "Shop"},
    "resend": {"apiKey": "re_the-secret-key", "from": "a@example.com", "senderName": "Shop"},
    "mailgun": {
        "apiKey": "mg-the-secret-key",
        "user": "api",
        "domain": "mg.example.com",
        "from": "a@example.com",
        "senderName": "Shop",
    },
}


class MailVendors:
    """The webhooks of accounts at SendGrid, Resend and Mailgun, by event for Mailgun."""

    def __init__(self) -> None:
        self.hooks: list[dict[str, Any]] = [
            {"id": "0", "url": "https://other.example.com/", "endpoint": "https://o.de"}
        ]
        self.urls: dict[str, list[str]] = {"delivered": ["https://other.example.com/"]}
        self.refusal: Reply | None = None

    def answer(self, request: Received) -> Reply:
        if self.refusal is not None:
            return self.refusal
        host, _, path = request.url.removeprefix("https://").partition("/")
        path = path.partition("?")[0]
        if host == "api.mailgun.net":
            return self._mailgun(request, path)
        return self._sendgrid(request, path) if host == "api.sendgrid.com" else self._resend(request, path)

    def _sendgrid(self, request: Received, path: str) -> Reply:
        name = path.removeprefix("v3/user/webhooks/event/settings").strip("/")
        assert request.headers["authorization"] == "Bearer SG.the-secret-key"
        if name == "all":
            return Reply(body={"max_allowed": 5, "webhooks": self.hooks})
        if name.startswith("signed/"):
            assert (request.method, json.loads(request.body)) == ("PATCH", {"enabled": True})
            return Reply(body={"id": name.partition("/")[2], "public_key": KEYS["sendgrid"]})
        return Reply(status=200 if name else 201, body=self._put(name, json.loads(request.body)))

    def _resend(self, request: Received, path: str) -> Reply:
        name = path.removeprefix("webhooks").strip("/")
        if request.method == "GET":
            secret = {"signing_secret": KEYS["resend"]}
            return Reply(body=secret if name else {"object": "list", "has_more": False, "data": self.hooks})
        return Reply(body=self._put(name, json.loads(request.body)) | {"signing_secret": KEYS["resend"]})

    def _put(self, hook_id: str, body: dict[str, Any]) -> dict[str, Any]:
        if not hook_id:
            self.hooks.append({"id": str(len(self.hooks))})
        hook = self.hooks[int(hook_id or -1)]
        hook |= body
        return hook

    def _mailgun(self, request: Received, path: str) -> Reply:
        if path == "v5/accounts/http_signing_key":
            return Reply(body={"http_signing_key": KEYS["mailgun"]})
        event, form = (
            path.removeprefix("v3/domains/mg.example.com/webhooks").strip("/"),
            parse_qs(request.body.decode()),
        )
        if request.method == "GET":
            return Reply(body={"webhooks": {name: {"urls": urls} for name, urls in self.urls.items()}})
        if request.method == "POST" and form["id"][0] in self.urls:
            return Reply(status=400, body={"message": "Webhook already exists"})
        self.urls[event or form["id"][0]] = form["url"]
        return Reply(body={"message": "Webhook has been updated"})


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, public_url=PUBLIC)


@pytest.fixture
def vendors() -> MailVendors:
    return MailVendors()


@pytest.fixture
async def vendor(vendors: MailVendors) -> AsyncIterator[Vendor]:
    async with play(vendors.answer) as vendor:
        yield vendor


@pytest.fixture
async def gateway(clock: ManualClock, vendor: Vendor) -> AsyncIterator[ProviderGateway]:
    guard = EgressGuard(("127.0.0.0/8",))
    async with ProviderGateway(guard, clock=clock, rewrite_url=vendor.rewrite_url) as entered:
        yield entered


async def make(api: Api, provider: str) -> str:
    body = {"providerId": provider, "channel": "email", "active": True, "credentials": CREDENTIALS[provider]}
    made = await api.post("/v1/integrations", json=body)
    assert made.status_code == 201, made.text
    return str(made.json()["_id"])


async def configure(api: Api, integration_id: str) -> dict[str, Any]:
    response = await api.post(f"/v1/integrations/{integration_id}/auto-configure")
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def stored_key(api: Api, database: Database, vault: Vault, integration_id: str) -> object:
    found = IntegrationId(find_id(integration_id) or b"")
    integration = await database.read(lambda db: get_integration(db, api.environment.id, found, vault))
    return integration.credentials.get("secretKey")


@pytest.mark.parametrize("provider", ["sendgrid", "resend"])
async def test_one_webhook_is_made_however_often(
    provider: str, api: Api, vendors: MailVendors, database: Database, vault: Vault
) -> None:
    integration_id = await make(api, provider)

    first, second = await configure(api, integration_id), await configure(api, integration_id)

    assert first["success"]
    assert second["success"]
    assert (first["integration"]["_id"], first["integration"]["credentials"]) == (integration_id, {})
    assert await stored_key(api, database, vault, integration_id) == KEYS[provider]
    foreign, ours = vendors.hooks
    assert foreign["id"] == "0"
    assert "events" not in foreign
    url = ours.get("url") or ours["endpoint"]
    address = (await api.get(f"/v1/integrations/{integration_id}/receipts-address")).json()
    assert url == address["url"]


async def test_a_webhook_with_an_old_token_is_changed(api: Api, vendors: MailVendors) -> None:
    integration_id = await make(api, "sendgrid")
    await configure(api, integration_id)
    vendors.hooks[1] |= {"url": vendors.hooks[1]["url"].partition("?")[0] + "?token=old", "bounce": False}

    await configure(api, integration_id)

    assert len(vendors.hooks) == 2
    assert (vendors.hooks[1]["bounce"], "token=old" in vendors.hooks[1]["url"]) == (True, False)


async def test_at_mailgun_addresses_of_others_stay(
    api: Api, vendors: MailVendors, database: Database, vault: Vault, vendor: Vendor
) -> None:
    integration_id = await make(api, "mailgun")

    await configure(api, integration_id)
    asked = len(vendor.requests)
    await configure(api, integration_id)

    (url,) = vendors.urls["opened"]
    assert url.startswith(f"{PUBLIC}/v2/inbound-webhooks/delivery-providers/")
    assert vendors.urls["delivered"] == ["https://other.example.com/", url]
    assert len(vendors.urls) == 8
    # Nothing is changed the second time: the list, and the key.
    assert len(vendor.requests) - asked == 2
    assert await stored_key(api, database, vault, integration_id) == KEYS["mailgun"]


async def test_one_request_at_a_time_asks_the_provider(api: Api, vendors: MailVendors, vendor: Vendor) -> None:
    integration_id = await make(api, "resend")
    vendor.is_held = True

    first = asyncio.create_task(configure(api, integration_id))
    await vendor.asked.wait()
    second = await api.post(f"/v1/integrations/{integration_id}/auto-configure")
    vendor.released.set()
    done = [await first, await configure(api, integration_id)]

    assert (second.status_code, "retry-after" in second.headers) == (409, True)
    assert [one["success"] for one in done] == [True, True]
    assert len(vendors.hooks) == 2


async def test_who_died_while_asking_holds_nobody_up_for_long(api: Api, clock: ManualClock, database: Database) -> None:
    integration_id = await make(api, "resend")
    name = lease_name(api.environment.id, IntegrationId(find_id(integration_id) or b""))
    now, dead = clock.now(), random_bytes(16)
    await database.transaction(lambda db: claim_lease(db, name, dead, until=Millis(now + LEASE), now=now))

    refused = await api.post(f"/v1/integrations/{integration_id}/auto-configure")
    clock.move(LEASE)

    assert refused.status_code == 409
    assert (await configure(api, integration_id))["success"]


async def test_the_key_of_an_account_that_a_variable_named_meanwhile_is_not_kept(
    api: Api, vendor: Vendor, database: Database, vault: Vault
) -> None:
    place = (await api.get("/v1/environments/me")).json()["_id"]
    values = [{"_environmentId": place, "value": "SG.the-secret-key"}]
    await api.post("/v1/environment-variables", json={"key": "MAIL", "forCredentials": True, "values": values})
    body = {"providerId": "sendgrid", "channel": "email", "active": True}
    credentials = CREDENTIALS["sendgrid"] | {"apiKey": "{{env.MAIL}}"}
    made = await api.post("/v1/integrations", json=body | {"credentials": credentials})
    vendor.is_held = True

    first = asyncio.create_task(configure(api, made.json()["_id"]))
    await vendor.asked.wait()
    changed = await api.patch(
        "/v1/environment-variables/MAIL", json={"values": [{"_environmentId": place, "value": "SG.another"}]}
    )
    vendor.released.set()
    answer = await first

    assert changed.status_code == 200, changed.text
    assert (answer["success"], "changed while" in answer["message"]) == (False, True)
    assert await stored_key(api, database, vault, made.json()["_id"]) is None


@pytest.mark.parametrize("provider", sorted(CREDENTIALS))
async def test_what_the_provider_refuses_is_said_without_secrets(
    provider: str, api: Api, vendors: MailVendors, database: Database, vault: Vault
) -> None:
    integration_id = await make(api, provider)
    key = CREDENTIALS[provider]["apiKey"]
    vendors.refusal = Reply(status=403, body={"message": f"the key {key} may not do this"})

    answer = await configure(api, integration_id)

    assert (answer["success"], "may not do this" in answer["message"], "integration" in answer) == (False, True, False)
    assert key not in answer["message"]
    assert await stored_key(api, database, vault, integration_id) is None


async def test_an_answer_without_a_key_changes_nothing(
    api: Api, vendors: MailVendors, database: Database, vault: Vault
) -> None:
    integration_id = await make(api, "resend")
    vendors.refusal = Reply(body={"data": "none"})

    answer = await configure(api, integration_id)

    assert (answer["success"], "signing_secret" in answer["message"]) == (False, True)
    assert await stored_key(api, database, vault, integration_id) is None


async def test_others_have_no_api_for_it(api: Api) -> None:
    body = {"providerId": "fcm", "channel": "push", "credentials": {}}
    integration_id = (await api.post("/v1/integrations", json=body)).json()["_id"]

    answer = await configure(api, integration_id)

    assert (answer["success"], "'fcm' has no API" in answer["message"]) == (False, True)
    assert (await api.post("/v1/integrations/01a1df28-0000-7000-8000-000000000000/auto-configure")).status_code == 404


async def test_the_key_of_the_account_may_be_a_variable(api: Api, vendors: MailVendors) -> None:
    value = {"_environmentId": (await api.get("/v1/environments/me")).json()["_id"], "value": "SG.the-secret-key"}
    made = await api.post("/v1/environment-variables", json={"key": "MAIL", "forCredentials": True, "values": [value]})
    assert made.status_code == 200, made.text
    credentials = CREDENTIALS["sendgrid"] | {"apiKey": "{{env.MAIL}}"}
    body = {"providerId": "sendgrid", "channel": "email", "active": True, "credentials": credentials}
    integration_id = (await api.post("/v1/integrations", json=body)).json()["_id"]

    answer = await configure(api, integration_id)

    assert answer["success"], answer
    assert len(vendors.hooks) == 2


async def test_a_variable_in_the_place_of_the_key_is_not_overwritten(
    api: Api, vendors: MailVendors, database: Database, vault: Vault
) -> None:
    value = {"_environmentId": (await api.get("/v1/environments/me")).json()["_id"], "value": "the-key-of-before"}
    made = await api.post("/v1/environment-variables", json={"key": "KEY", "forCredentials": True, "values": [value]})
    assert made.status_code == 200, made.text
    credentials = CREDENTIALS["sendgrid"] | {"secretKey": "{{env.KEY}}"}
    body = {"providerId": "sendgrid", "channel": "email", "active": True, "credentials": credentials}
    integration_id = (await api.post("/v1/integrations", json=body)).json()["_id"]

    answer = await configure(api, integration_id)

    assert (answer["success"], "refers to a variable" in answer["message"]) == (False, True)
    assert len(vendors.hooks) == 1
    assert await stored_key(api, database, vault, integration_id) == "{{env.KEY}}"


async def test_the_change_of_the_key_is_in_the_audit_log_once(api: Api) -> None:
    integration_id = await make(api, "sendgrid")

    await configure(api, integration_id)
    await configure(api, integration_id)

    entries = (await api.get("/v1/audit-log")).json()["data"]
    assert [one["action"] for one in entries] == ["integration.update", "integration.create"]
    assert KEYS["sendgrid"] not in str(entries)


async def test_the_published_client_configures(api: Api, application: Application) -> None:
    integration_id, other = await make(api, "sendgrid"), {"providerId": "fcm", "channel": "push"}
    other_id = (await api.post("/v1/integrations", json=other)).json()["_id"]
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=application.asgi)) as http:
        client = Novu(secret_key=api.key, server_url="http://clarion.test", async_client=http, retry_config=None)
        configure_at = client.integrations.integrations_controller_auto_configure_integration_async
        done = await configure_at(integration_id=integration_id)
        refused = await configure_at(integration_id=other_id)

    assert (done.result.success, refused.result.success) == (True, False)
    assert "no API" in (refused.result.message or "")


class TestWithoutHttps:
    """Where the service has no public address."""

    @pytest.fixture
    def settings(self, tmp_path: Path) -> Settings:
        return Settings(data_dir=tmp_path)

    async def test_nothing_is_registered(self, api: Api, vendor: Vendor) -> None:
        answer = await configure(api, await make(api, "sendgrid"))

        assert (answer["success"], "CLARION_PUBLIC_URL" in answer["message"]) == (False, True)
        assert vendor.requests == []
