"""What became of a button of an in-app message, told by the application."""

from typing import Any

import pytest

from clarion.db.port import Database
from clarion.jsontext import json_text
from tests.records import make_message, make_subscriber
from tests.support import Api

CTA: dict[str, Any] = {
    "data": {},
    "action": {"status": "pending", "buttons": [{"type": "primary", "content": "Accept"}]},
}


@pytest.fixture
async def path(api: Api, database: Database) -> str:
    subscriber = await make_subscriber(database, api.environment, "ada")
    message = await make_message(database, api.environment, subscriber=subscriber, cta=json_text(CTA))
    return f"/v1/subscribers/ada/messages/{message.text}/actions"


async def test_a_used_button_is_noted_and_marks_the_message_as_read(api: Api, path: str) -> None:
    done = await api.post(f"{path}/primary", json={"status": "done", "payload": {"choice": "yes"}})
    again = await api.post(f"{path}/primary", json={"status": "done", "payload": {"choice": "yes"}})

    assert (done.status_code, again.status_code) == (201, 201)
    assert done.json()["cta"]["action"] == {
        "status": "done",
        "buttons": CTA["action"]["buttons"],
        "result": {"type": "primary", "payload": {"choice": "yes"}},
    }
    assert (done.json()["read"], done.json()["seen"]) == (True, True)
    assert again.json() == done.json()


async def test_a_use_is_taken_back_and_the_message_stays_read(api: Api, path: str) -> None:
    await api.post(f"{path}/primary", json={"status": "done"})

    pending = (await api.post(f"{path}/primary", json={"status": "pending"})).json()

    assert (pending["cta"]["action"]["status"], pending["read"]) == ("pending", True)


@pytest.mark.parametrize(
    ("button", "body", "status"),
    [
        ("tertiary", {"status": "done"}, 422),
        ("primary", {"status": "gone"}, 422),
        ("primary", {}, 422),
        ("primary", {"status": "done", "payload": {"text": "x" * 20_000}}, 422),
        ("secondary", {"status": "done"}, 400),
    ],
)
async def test_what_is_no_action_is_refused(
    api: Api, path: str, button: str, body: dict[str, Any], status: int
) -> None:
    assert (await api.post(f"{path}/{button}", json=body)).status_code == status


async def test_a_message_of_somebody_else_is_not_found(api: Api, path: str) -> None:
    await api.post("/v2/subscribers", json={"subscriberId": "bob"})

    for name in ("bob", "nobody"):
        response = await api.post(f"{path.replace('/ada/', f'/{name}/')}/primary", json={"status": "done"})
        assert response.status_code == 404
