"""Links and images as anybody can ask for them."""

import httpx
import pytest

from clarion.app import Application
from clarion.clock import ManualClock
from clarion.content.environment import load_environment_content
from clarion.content.known_secrets import SECRET_AGE
from clarion.content.links import LinkPurpose, LinkSecret, sign_link
from clarion.db.port import Database
from clarion.environments.deletion import delete_environment
from clarion.monitoring.metrics import TrackedEvent
from clarion.tracking.recorder import MAX_PER_MESSAGE, TrackingRecorder
from clarion.vault import Vault
from clarion.vocabulary import Channel
from tests.records import make_message
from tests.support import Api, Site
from tests.tracking.support import PERSON

TARGET = b"https://shop.example/a"


def make_data(message_id: bytes, target: bytes = TARGET) -> bytes:
    return message_id + target


@pytest.fixture
def anybody(application: Application) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=application.asgi)
    return httpx.AsyncClient(transport=transport, base_url="http://clarion.test", headers={"user-agent": PERSON})


@pytest.fixture
async def secret(api: Api, database: Database, vault: Vault) -> LinkSecret:
    """That of the environment of `api`."""
    content = await database.read(lambda db: load_environment_content(db, api.environment.id, vault=vault))
    assert content.link_secret is not None
    return content.link_secret


@pytest.mark.parametrize("token", ["x", "a" * 60, "..%2f", "a" * 5_000, "ä"])
async def test_a_made_up_link_leads_nowhere(anybody: httpx.AsyncClient, token: str) -> None:
    followed, loaded = await anybody.get(f"/t/c/{token}"), await anybody.get(f"/t/o/{token}")

    assert (followed.status_code, followed.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "location" not in followed.headers
    assert (loaded.status_code, loaded.headers["content-type"]) == (200, "image/gif")
    assert followed.headers["cache-control"] == loaded.headers["cache-control"] == "no-store"


async def test_a_link_of_another_purpose_or_environment_leads_nowhere(
    anybody: httpx.AsyncClient, secret: LinkSecret, site: Site
) -> None:
    neighbour = LinkSecret(site.production.id, secret.key)
    data = make_data(b"m" * 16)
    tokens = [
        sign_link(secret, LinkPurpose.UNSUBSCRIBE, data),
        sign_link(secret, LinkPurpose.OPEN, data),
        sign_link(neighbour, LinkPurpose.CLICK, data),
        sign_link(secret, LinkPurpose.CLICK, make_data(b"m" * 16, b"//evil.example")),
        sign_link(secret, LinkPurpose.CLICK, make_data(b"m" * 16, b"https://a.example/\r\nX-A: b")),
    ]

    statuses = [(await anybody.get(f"/t/c/{token}")).status_code for token in tokens]

    assert statuses == [404] * 5
    assert (await anybody.get(f"/t/c/{sign_link(secret, LinkPurpose.CLICK, data)}")).status_code == 302


async def test_a_link_leads_on_when_its_message_is_gone(
    anybody: httpx.AsyncClient, secret: LinkSecret, recorder: TrackingRecorder
) -> None:

    response = await anybody.get(f"/t/c/{sign_link(secret, LinkPurpose.CLICK, make_data(b'm' * 16))}")
    await recorder.record()

    assert response.headers["location"] == TARGET.decode()


async def test_a_link_says_nothing_about_the_message_of_a_neighbour(
    anybody: httpx.AsyncClient,
    other_api: Api,
    database: Database,
    secret: LinkSecret,
    clock: ManualClock,
    recorder: TrackingRecorder,
) -> None:
    theirs = await make_message(database, other_api.environment, channel=Channel.EMAIL, email="ada@example.org")
    clock.move(60_000)

    await anybody.get(f"/t/c/{sign_link(secret, LinkPurpose.CLICK, make_data(theirs.id))}")
    await recorder.record()

    (found,) = (await other_api.get("/v1/messages")).json()["data"]
    assert "tracking" not in found


async def test_one_link_that_is_followed_without_end_is_not_recorded_without_end(
    anybody: httpx.AsyncClient,
    api: Api,
    database: Database,
    secret: LinkSecret,
    clock: ManualClock,
    recorder: TrackingRecorder,
) -> None:
    mail = await make_message(database, api.environment, channel=Channel.EMAIL, email="ada@example.org")
    path = f"/t/c/{sign_link(secret, LinkPurpose.CLICK, make_data(mail.id))}"
    clock.move(60_000)

    statuses = []
    for _ in range(MAX_PER_MESSAGE.burst + 5):
        clock.move(1)
        statuses.append((await anybody.get(path)).status_code)
    await recorder.record()

    (found,) = (await api.get("/v1/messages")).json()["data"]
    assert set(statuses) == {302}
    assert found["tracking"]["clickCount"] == MAX_PER_MESSAGE.burst
    assert recorder._measures.tracked[TrackedEvent.DROPPED] == 5


async def test_what_was_recorded_before_a_failure_is_not_counted_twice(
    anybody: httpx.AsyncClient,
    api: Api,
    database: Database,
    secret: LinkSecret,
    clock: ManualClock,
    recorder: TrackingRecorder,
) -> None:
    mail = await make_message(database, api.environment, channel=Channel.EMAIL, email="ada@example.org")
    clock.move(60_000)
    await anybody.get(f"/t/o/{sign_link(secret, LinkPurpose.OPEN, make_data(mail.id, b''))}")
    waiting = list(recorder._waiting)

    await recorder.record()
    recorder._waiting.extend(waiting)
    await recorder.record()

    (found,) = (await api.get("/v1/messages")).json()["data"]
    assert found["tracking"]["openCount"] == 1


async def test_links_of_a_deleted_environment_end_after_some_minutes(
    anybody: httpx.AsyncClient, api: Api, secret: LinkSecret, database: Database, clock: ManualClock
) -> None:
    path = f"/t/c/{sign_link(secret, LinkPurpose.CLICK, make_data(b'm' * 16))}"
    before = await anybody.get(path)

    await database.transaction(lambda db: delete_environment(db, api.environment, clock.now()))
    soon = await anybody.get(path)
    clock.move(SECRET_AGE)
    later = await anybody.get(path)

    assert (before.status_code, soon.status_code, later.status_code) == (302, 302, 404)
