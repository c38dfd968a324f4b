"""Members of requests that nothing reads: our own operations refuse them, the published contract warns of them."""

import json
import re
import typing
from pathlib import Path
from typing import Any

import novu_py
import pytest

from clarion.http.input.unknown import PUBLISHED, Contract, InputWarning, strict, warning_headers
from clarion.http.operation import Operation
from clarion.http.wire import Wire
from clarion.operations import OPERATIONS
from tests.support import Api

NAMED = {f"{one.method} {one.path}": one for one in OPERATIONS}
_CALL = re.compile(r'method="([A-Z]+)",\s*path="([^"]+)"')


def warnings_of(response: Any) -> list[str]:
    found: list[str] = json.loads(response.headers.get("clarion-warnings", "[]"))
    return found


def without_names(name: str) -> str:
    return re.sub(r"\{\w+\}", "{}", name)


def test_every_name_of_the_published_contract_is_an_operation() -> None:
    assert PUBLISHED - NAMED.keys() == set()


def test_every_operation_that_the_published_client_calls_belongs_to_the_published_contract() -> None:
    sources = [path.read_text() for path in Path(novu_py.__file__).parent.glob("*.py")]
    called = {without_names(f"{method} {path}") for text in sources for method, path in _CALL.findall(text)}
    served = [one for name, one in NAMED.items() if without_names(name) in called]

    assert len(served) > 70
    assert [one.path for one in served if one.contract is Contract.OWN] == []


def test_all_operations_of_inboxes_belong_to_the_published_contract() -> None:
    inbox = [one for one in OPERATIONS if one.is_for_subscribers]

    assert {one.contract for one in inbox} == {Contract.PUBLISHED}


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if one.body_shape], ids=lambda one: one.handler.__name__
)
def test_bodies_are_read_strictly_at_every_depth(operation: Operation) -> None:
    assert operation.body_shape is not None
    shapes = list_shapes(strict(operation.body_shape))

    assert [one for one in shapes if not one.__struct_config__.forbid_unknown_fields] == []


def list_shapes(shape: Any, found: list[type[Wire]] | None = None) -> list[type[Wire]]:
    """Every shape in a type."""
    found = [] if found is None else found
    if isinstance(shape, type) and issubclass(shape, Wire) and shape not in found:
        found.append(shape)
        for hint in typing.get_type_hints(shape, include_extras=True).values():
            list_shapes(hint, found)
    for inner in typing.get_args(shape):
        list_shapes(inner, found)
    return found


async def test_our_own_operations_refuse_an_unknown_member_and_suggest_the_nearest(api: Api) -> None:
    body = {"url": "https://example.com/hook", "eventTypse": ["message.sent"], "words": {}}
    response = await api.post("/v1/webhooks/endpoints", json=body)

    assert response.status_code == 422
    assert {path: one["messages"] for path, one in response.json()["errors"].items()} == {
        "eventTypse": ["is not known here: nothing reads it; did you mean 'eventTypes'?"],
        "words": ["is not known here: nothing reads it"],
    }


async def test_our_own_operations_refuse_an_unknown_member_of_an_item(api: Api) -> None:
    items = [{"channel": "email", "address": "a@example.com"}, {"channel": "email", "adress": "b@example.com"}]
    response = await api.post("/v1/suppressions/bulk", json={"suppressions": items})

    errors = response.json()["errors"]
    assert errors["suppressions.1.adress"]["messages"] == [
        "is not known here: nothing reads it; did you mean 'address'?"
    ]


@pytest.mark.parametrize("path", ["/v1/runs?limt=5", "/v1/usage?limt=5", "/v1/providers?limt=5"])
async def test_our_own_operations_refuse_an_unknown_parameter(api: Api, path: str) -> None:
    response = await api.get(path)

    assert response.status_code == 422
    assert "is not known here" in response.json()["errors"]["limt"]["messages"][0]


async def test_our_own_operations_refuse_a_body_that_they_do_not_read(api: Api) -> None:
    refused = await api.post("/v1/environments/sessions/revoke", json={"subscriberId": "ada"})
    empty = await api.post("/v1/environments/sessions/revoke", json={})

    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["body"])
    assert empty.status_code == 204


async def test_the_published_contract_accepts_unknown_members_and_warns_of_them(api: Api) -> None:
    body = {"subscriberId": "ada", "fisrtName": "Ada", "email": "ada@example.com"}
    response = await api.post("/v2/subscribers?failIfExist=true", json=body)

    assert (response.status_code, response.json()["email"]) == (201, "ada@example.com")
    assert warnings_of(response) == [
        "failIfExist is not known here: nothing reads it; did you mean 'failIfExists'?",
        "fisrtName is not known here: nothing reads it; did you mean 'firstName'?",
    ]


async def test_the_published_contract_warns_of_a_query_or_body_that_it_does_not_read(api: Api) -> None:
    listed = await api.get("/v1/integrations?channel=email")
    deleted = await api.request("DELETE", "/v1/events/trigger/unknown", json={"reason": "none"})

    assert warnings_of(listed) == ["channel is not known here: nothing reads it"]
    assert warnings_of(deleted) == ["body is not read by this operation; leave it out"]


async def test_a_refusal_warns_of_unknown_members_too(api: Api) -> None:
    response = await api.post("/v1/events/trigger", json={"name": "missing", "to": "ada", "paylod": {}})

    assert response.status_code == 422
    assert warnings_of(response) == ["paylod is not known here: nothing reads it; did you mean 'payload'?"]


async def test_a_replayed_response_repeats_the_warnings_about_members(api: Api) -> None:
    headers = {"Idempotency-Key": "once"}
    first = await api.post("/v2/topics", json={"key": "news", "titel": "News"}, headers=headers)
    second = await api.post("/v2/topics", json={"key": "news", "titel": "News"}, headers=headers)

    assert second.headers["idempotency-replay"] == "true"
    assert warnings_of(first) == warnings_of(second) == ["titel is not known here: nothing reads it"]


async def test_a_request_without_mistakes_has_no_warnings(api: Api) -> None:
    response = await api.post("/v2/subscribers", json={"subscriberId": "ada", "firstName": "Ada"})

    assert "clarion-warnings" not in response.headers


async def test_odd_names_of_members_cannot_break_the_header(api: Api) -> None:
    response = await api.post("/v2/topics", json={"key": "news", "a\r\nSet-Cookie: x=y": 1, "é" * 500: 2})

    assert response.status_code == 201
    assert "set-cookie" not in response.headers
    first, second = warnings_of(response)
    assert first.startswith("a\r\nSet-Cookie: x=y is not known")
    assert len(second) < 200


def test_the_header_stays_short_however_many_warnings_there_are() -> None:
    many = [InputWarning(f"{number}" + "é" * 90, "is not known here") for number in range(500)]

    ((name, content),) = warning_headers(many)

    assert name == b"clarion-warnings"
    assert len(content) <= 3_500
    assert json.loads(content)[-1].startswith("and 4")
