"""No input causes a 500: requests are generated from the API description and then corrupted."""

import json
import re
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from clarion.clock import ManualClock
from clarion.http.caller import SubscriberSession
from clarion.http.operation import Operation
from clarion.ids import SubscriberId, find_id
from clarion.inbox.sessions.tokens import SessionTokens
from clarion.operations import OPERATIONS
from clarion.vault import Vault
from tests.contract.description import DESCRIPTION
from tests.fuzzing import EXAMPLES
from tests.support import Api

ENDING = [one for one in OPERATIONS if not one.is_stream]
ODD_TEXTS = [
    "",
    " ",
    "\x00",
    "\ud7ff",
    "019b76da-a800-7001-949c-836c491b4f94",
    "%",
    "%00",
    "%ff",
    "/",
    "..",
    "'",
    '"',
    "🦊" * 300,
    "null",
    "-1",
    "1e400",
    "ada",
]

texts = st.sampled_from(ODD_TEXTS) | st.text(max_size=20)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)


def names_of(operation: Operation) -> tuple[list[str], list[str]]:
    """The query parameters and the body members of the operation."""
    described = DESCRIPTION["paths"][operation.path][operation.method.lower()]
    query = [one["name"] for one in described["parameters"] if one.get("in") == "query"]
    if "requestBody" not in described:
        return query, []
    (content,) = described["requestBody"]["content"].values()
    schema = content["schema"]
    shape = DESCRIPTION["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return query, list(shape.get("properties", ()))


def fields(names: list[str]) -> st.SearchStrategy[tuple[str, tuple[str | None, bytes]]]:
    """Fields of a form, with or without the name of a file."""
    file_names = st.none() | st.sampled_from(["en_US.json", "x.json", "../en_US.json"]) | texts
    contents = values.map(lambda one: json.dumps(one).encode()) | st.binary(max_size=20)
    return st.tuples(st.sampled_from(names) | texts, st.tuples(file_names, contents))


@st.composite
def requests(draw: st.DrawFn, operation: Operation) -> dict[str, Any]:
    query_names, body_names = names_of(operation)
    # The client takes a segment ".." out of the path, which may make it that of another operation.
    path = re.sub(r"\{\w+\}", lambda _: quote(draw(texts), safe="").replace(".", "%2E"), operation.path)
    query = draw(st.lists(st.tuples(st.sampled_from(query_names), texts), max_size=4)) if query_names else []
    request = {"url": path, "params": query}
    if operation.form_shape is not None:
        return request | {"files": draw(st.lists(fields(body_names), min_size=1, max_size=4))}
    example = DESCRIPTION["paths"][operation.path][operation.method.lower()].get("requestBody")
    body = example["content"]["application/json"]["examples"]["example"]["value"] if example else {}
    if body_names:
        body = body | draw(st.dictionaries(st.sampled_from(body_names), values, max_size=3))
    return request | {"content": json.dumps(draw(st.just(body) | values))}


async def make_ada(api: Api) -> SubscriberId:
    made = (await api.post("/v2/subscribers", json={"subscriberId": "ada"})).json()
    return SubscriberId(find_id(made["_id"]) or b"")


@pytest.fixture
async def ada(api: Api) -> SubscriberId:
    return await make_ada(api)


@settings(max_examples=EXAMPLES or 5, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(data=st.data())
@pytest.mark.parametrize("operation", ENDING, ids=lambda one: f"{one.method} {one.path}")
async def test_every_response_has_a_documented_status(
    api: Api, vault: Vault, clock: ManualClock, operation: Operation, ada: SubscriberId, data: st.DataObject
) -> None:
    documented = set(DESCRIPTION["paths"][operation.path][operation.method.lower()]["responses"]) - {"500", "503"}
    if operation.method != "GET":
        # The request before may have deleted her.
        ada = await make_ada(api)
    headers = {} if operation.form_shape is not None else {"Content-Type": "application/json"}
    if operation.is_for_subscribers:
        session = SubscriberSession(subscriber_id=ada, epoch=0)
        environment = api.environment
        token = SessionTokens(vault, clock).issue(session, environment.id, environment.organization_id)
        headers["Authorization"] = f"Bearer {token}"
    request = data.draw(requests(operation))

    response = await api.request(operation.method, **request, headers=headers)

    # A segment that is empty or not valid UTF-8 makes another path.
    assert str(response.status_code) in documented | {"404", "405"}, (request, response.text)
