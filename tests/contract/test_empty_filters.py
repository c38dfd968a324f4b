"""Filters with an empty text: it is a value, and nothing has it as its key."""

import pytest

from clarion.db.port import Database
from tests.records import make_message
from tests.support import Api


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v2/subscribers", "subscriberId"),
        ("/v2/topics", "key"),
        ("/v2/topics/news/subscriptions", "subscriberId"),
        ("/v2/subscribers/ada/subscriptions", "key"),
        ("/v1/messages", "subscriberId"),
        ("/v1/notifications", "topicKey"),
    ],
)
async def test_an_empty_key_finds_nothing_and_no_key_finds_all(
    api: Api, database: Database, path: str, name: str
) -> None:
    await make_message(database, api.environment)
    subscribed = await api.post("/v2/topics/news/subscriptions", json={"subscriberIds": ["ada"]})
    assert subscribed.status_code == 201, subscribed.text

    everything, found = await api.get(path), await api.get(f"{path}?{name}=")

    assert len(everything.json()["data"]) == 1
    assert (found.status_code, found.json()["data"]) == (200, [])
