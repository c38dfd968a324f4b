"""The API description is one that clients can be generated from. Each message says what to change in a shape."""

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from clarion.http.description import texts
from tests.contract.description import DESCRIPTION

SCHEMAS: dict[str, dict[str, Any]] = DESCRIPTION["components"]["schemas"]

MOMENTS = re.compile(r"(^|[a-z])(at|until|since|timestamp)$|[a-z](At|Until|Since|Date|Timestamp)$")
CLOSED_SETS = {
    *("action", "channel", "code", "direction", "kind", "level", "mode", "operator", "outcome", "reason", "role"),
    *("scope", "severity", "source", "state", "status", "type", "verdict"),
}
FREE_TEXTS = {
    "ChannelCredentials.channel": "the name of a channel at a chat provider",
    "ChannelCredentials.state": "any text of an alert",
    "Context.type": "chosen by the application",
    "NewContextIn.type": "chosen by the application",
    "GET /v2/contexts?type": "chosen by the application",
    "IntegrationCredentials.state": "any text of an alert",
    "Skipped.reason": "a sentence",
    "RunsEnd.reason": "a sentence",
    "MessageChange.reason": "a sentence, or the words of a provider",
    "WithdrawnMessage.reason": "a sentence",
    "DeadLetterSelection.reason": "the words of a provider",
    "GET /v1/dead-letters/counts?reason": "the words of a provider",
    "GET /v1/dead-letters?reason": "the words of a provider",
    **dict.fromkeys(("ChatUrlIn.scope", "ConnectUrlIn.scope", "OwnConnectUrlIn.scope"), "of the vendor"),
    "GET /v1/integrations/chat/oauth/callback?code": "of the vendor",
    "GET /v1/integrations/chat/oauth/callback?state": "sealed",
    "GET /v1/auth/oidc/callback?code": "of the provider",
    "GET /v1/auth/oidc/callback?state": "of the provider",
    "WebhookAddress.channel": "the name of a channel at a chat provider",
    "TestMessageRecipient.channel": "the name of a channel at a chat provider",
    "TestMessageRecipient.state": "any text of an alert",
}
"""Fields that have the name of a closed set, and why they are none."""
ANYTHING = {
    "FieldErrors.value": "what the caller sent",
    "TestMessage.answer": "what the provider answered",
    "CallError.answer": "what the provider answered",
    "SendAttempt.answer": "what the provider answered",
    "Receipt.report": "what the provider reported",
    "FieldDiff.before": "the value of any field",
    "FieldDiff.after": "the value of any field",
    "TestRequest.body": "what the server answered",
    "AnswerIn.body": "what a server is taken to answer",
    "FlushIn.digestKey": "a value of any payload",
}
"""Fields that may have any JSON value."""


def walk(schema: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema and all schemas inside it, each with its place."""
    if not isinstance(schema, dict):
        return
    yield place, schema
    for name, inner in schema.get("properties", {}).items():
        yield from walk(inner, f"{place}.{name}")
    for key in ("items", "additionalProperties"):
        yield from walk(schema.get(key), f"{place}[]")
    for inner in schema.get("anyOf", ()):
        yield from walk(inner, place)


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in DESCRIPTION["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def parameters() -> Iterator[tuple[str, dict[str, Any]]]:
    for where, operation in operations():
        for one in operation["parameters"]:
            if "$ref" not in one:
                yield f"{where}?{one['name']}", one


ALL = [
    *(found for name, schema in SCHEMAS.items() for found in walk(schema, name)),
    *(found for where, parameter in parameters() for found in walk(parameter["schema"], where)),
]
PROPERTIES = [
    *((f"{place}.{name}", name, one) for place, s in ALL for name, one in s.get("properties", {}).items()),
    *((place, parameter["name"], parameter["schema"]) for place, parameter in parameters()),
]


def kinds_of(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """What a value may be, looking into arrays, alternatives and references."""
    if "$ref" in schema:
        return kinds_of(SCHEMAS[schema["$ref"].rpartition("/")[2]])
    inner = [*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ())]
    return [kind for one in inner for kind in kinds_of(one)] if inner else [schema]


def test_every_property_and_parameter_has_a_description() -> None:
    described = [
        *((f"{place}.{name}", one) for place, s in ALL for name, one in s.get("properties", {}).items()),
        *parameters(),
    ]
    # What types add is no meaning: "Must be …", "Default: …".
    missing = [
        place for place, one in described if not re.match(r"(?!Must |Default: )\S.*\.$", one.get("description", ""))
    ]

    assert missing == [], (
        'write a string literal under the field in its Wire class, such as """The key of the topic.""" (CONTRIBUTING, '
        '"Describe a shape"); names of paths and names that mean the same everywhere are in '
        "http/description/texts.py"
    )


def test_every_known_name_is_used() -> None:
    fields = {name for _, s in ALL for name in s.get("properties", {})}
    names = {where: {one["name"] for _, one in parameters() if one["in"] == where} for where in ("path", "query")}

    assert texts.FIELDS.keys() - fields == set()
    assert texts.PATH_PARAMETERS.keys() - names["path"] == set()
    assert texts.QUERY_PARAMETERS.keys() - names["query"] == set()


def test_every_object_says_which_members_it_may_have() -> None:
    bare = [
        place
        for place, one in ALL
        if one.get("type") == "object" and not one.keys() & {"properties", "additionalProperties"}
    ]

    assert bare == [], "generated clients could neither write nor read these: use dict[str, Any] or a Wire"


def test_every_enum_has_a_type() -> None:
    assert [place for place, one in ALL if "enum" in one and "type" not in one] == [], "use a StrEnum or Literal texts"


def test_every_closed_set_is_an_enum() -> None:
    free = [
        place
        for place, name, schema in PROPERTIES
        if name in CLOSED_SETS and any(one.get("type") == "string" and "enum" not in one for one in kinds_of(schema))
    ]

    assert sorted(free) == sorted(FREE_TEXTS), (
        "annotate these with their StrEnum or Literal, or with Annotated[str, one_of(TheEnum)] where the value is a "
        "plain text; or say in FREE_TEXTS why they may be any text"
    )


def test_every_moment_is_a_date_time() -> None:
    texts = [
        place
        for place, name, schema in PROPERTIES
        if MOMENTS.search(name)
        and any(one.get("type") == "string" and one.get("format") != "date-time" for one in kinds_of(schema))
    ]

    assert texts == [], "annotate these with DateTimeText in responses and with MomentText in requests"


def test_every_value_says_what_it_may_be() -> None:
    unknown = [place for place, one in ALL if not one.keys() - {"description"} and not place.endswith("[]")]

    assert sorted(unknown) == sorted(ANYTHING), (
        "annotate these with Annotated[Any, one_of(…)], or say in ANYTHING why they may be anything"
    )


def test_no_default_makes_a_field_required() -> None:
    defaults = [place for name, schema in SCHEMAS.items() for place, one in walk(schema, name) if "default" in one]

    assert defaults == [], "generated types require fields with a default: say it in the description"


def test_no_parameter_is_null() -> None:
    nulls = [
        place
        for place, one in parameters()
        if {"type": "null"} in one["schema"].get("anyOf", ()) or one["schema"].get("default", ...) in (None, [])
    ]

    assert nulls == [], "a parameter is absent rather than null"


@pytest.mark.parametrize("part", sorted(DESCRIPTION["components"]))
def test_components_have_plain_names(part: str) -> None:
    pattern = r"[A-Z][A-Za-z0-9-]*" if part == "headers" else r"[A-Z][A-Za-z0-9]*"
    odd = [name for name in DESCRIPTION["components"][part] if not re.fullmatch(pattern, name) or name.endswith("Out")]

    assert odd == [], "schemas have the names of their classes: give these plain ones"


def test_errors_are_shared_responses() -> None:
    inline = [
        f"{where} {status}"
        for where, operation in operations()
        for status, response in operation["responses"].items()
        if int(status) >= 400
        and not response.get("$ref", "").startswith("#/components/responses/")
        # Pages are for people, who get a page in any case.
        and "text/html" not in response.get("content", ())
    ]

    assert inline == [], "refusals are shared: add a new one to _REFUSALS in http/description/openapi.py"


def test_only_changes_take_an_idempotency_key() -> None:
    reading = [
        where
        for where, operation in operations()
        if where.startswith("GET ") and any("IdempotencyKey" in one.get("$ref", "") for one in operation["parameters"])
    ]

    assert reading == []


def test_every_reference_leads_somewhere() -> None:
    references = set(re.findall(r'"\$ref": "#/components/(\w+)/([^"]+)"', json.dumps(DESCRIPTION)))

    assert [one for one in sorted(references) if one[1] not in DESCRIPTION["components"][one[0]]] == []


def contents() -> Iterator[tuple[str, dict[str, Any]]]:
    for where, operation in operations():
        for content in operation.get("requestBody", {}).get("content", {}).values():
            # Forms with files have no example.
            if "examples" in content:
                yield f"{where} body", content
        for status, response in operation["responses"].items():
            if "application/json" in response.get("content", {}):
                yield f"{where} {status}", response["content"]["application/json"]
    for name, response in DESCRIPTION["components"]["responses"].items():
        yield f"responses.{name}", response["content"]["application/json"]


def test_every_example_fits_its_schema() -> None:
    problems = {}
    for where, content in contents():
        schema = content["schema"] | {"components": DESCRIPTION["components"]}
        for problem in jsonschema_rs.Draft202012Validator(schema).iter_errors(content["examples"]["example"]["value"]):
            problems[f"{where} {list(problem.instance_path)}"] = problem.message

    assert problems == {}, "a better example belongs into _NAMED of http/description/examples.py"
