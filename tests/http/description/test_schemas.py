"""How shapes are described."""

from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from msgspec import UNSET, Meta, UnsetType, field

from clarion.http.description.schemas import Schemas
from clarion.http.description.texts import FIELDS, QUERY_PARAMETERS
from clarion.http.pages import CursorPage
from clarion.http.wire import DateTimeText, EmailText, JsonText, Wire, one_of


class Color(StrEnum):
    RED = "red"
    """As of roses."""
    BLUE = "blue"


class PersonIn(Wire):
    """Somebody.

    They have a name.
    """

    name: str
    color: Color = Color.RED
    """The favourite one,
    if there is one."""
    address: EmailText | UnsetType = UNSET
    """Where mails go."""
    tags: list[str] = field(default_factory=list)
    nick: str | None = None


class OldPersonIn(PersonIn):
    color: Color = Color.BLUE


class PersonOut(Wire):
    name: str
    kind: Literal["person"] = "person"
    shade: Annotated[str, one_of(Color)]
    born_at: DateTimeText | None
    raw: JsonText | UnsetType = UNSET
    data: dict[str, Any]
    votes: dict[Color, int]
    friend: Annotated[Any, one_of(str, PersonIn)] = None


class PeopleQuery(Wire):
    color: Color = Color.BLUE
    name: Annotated[str, Meta(max_length=9)] | None = None
    """A part of it"""
    tags: tuple[str, ...] = ()


def schemas_of(*, bodies: tuple[Any, ...] = (), queries: Any = (), results: tuple[Any, ...] = ()) -> Schemas:
    return Schemas(bodies=bodies, queries=queries, results=results)


def test_names_have_no_endings_of_the_code() -> None:
    schemas = schemas_of(bodies=(PersonIn,), results=(CursorPage[PersonOut], list[PersonOut]))

    assert set(schemas.components) == {"PersonIn", "Color", "PersonPage", "Person"}
    assert schemas.of(CursorPage[PersonOut]) == {"$ref": "#/components/schemas/PersonPage"}
    assert schemas.of(list[PersonOut]) == {"type": "array", "items": {"$ref": "#/components/schemas/Person"}}


def test_two_shapes_of_one_name_are_refused() -> None:
    class Person(Wire):
        name: str

    with pytest.raises(TypeError, match=r"Person.* and .*Person.* would both be `Person`.*rename one of them"):
        schemas_of(results=(PersonOut, Person))


def test_a_field_of_a_request_with_a_default_is_optional_and_says_it_in_words() -> None:
    described = schemas_of(bodies=(PersonIn,)).components["PersonIn"]

    assert described["required"] == ["name"]
    assert described["description"] == "Somebody.\n\nThey have a name."
    assert described["properties"] == {
        "name": {"type": "string"},
        "color": {
            "$ref": "#/components/schemas/Color",
            "description": 'The favourite one, if there is one. Default: `"red"`.',
        },
        "address": {
            "type": "string",
            "format": "email",
            "examples": ["ada@example.com"],
            "description": "Where mails go. Must be an e-mail address such as ada@example.com.",
        },
        "tags": {"type": "array", "items": {"type": "string"}, "description": FIELDS["tags"]},
        "nick": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    }


def test_a_field_that_a_subclass_changes_keeps_its_description() -> None:
    described = schemas_of(bodies=(OldPersonIn,)).components["OldPersonIn"]["properties"]

    assert described["color"]["description"] == 'The favourite one, if there is one. Default: `"blue"`.'


def test_a_field_of_a_response_is_required_unless_it_may_be_absent() -> None:
    described = schemas_of(results=(PersonOut,)).components["Person"]

    assert described["required"] == ["name", "kind", "shade", "bornAt", "data", "votes", "friend"]


def test_a_shape_of_requests_and_responses_is_described_as_a_request() -> None:
    assert schemas_of(bodies=(PersonIn,), results=(PersonIn,)).components["PersonIn"]["required"] == ["name"]


def test_values_say_what_they_may_be() -> None:
    schemas = schemas_of(results=(PersonOut,)).components
    described = schemas["Person"]["properties"]

    assert schemas["Color"] == {"type": "string", "enum": ["blue", "red"]}
    assert described["kind"]["type"] == "string"
    assert described["shade"] == {"$ref": "#/components/schemas/Color"}
    assert described["bornAt"] == {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}
    assert described["raw"] == {"type": "string", "contentMediaType": "application/json"}
    assert described["data"] == {"type": "object", "additionalProperties": True, "description": FIELDS["data"]}
    assert described["friend"] == {"anyOf": [{"type": "string"}, {"$ref": "#/components/schemas/PersonIn"}]}


def test_an_object_whose_members_are_an_enum_names_them() -> None:
    described = schemas_of(results=(PersonOut,)).components["Person"]["properties"]["votes"]

    assert described == {
        "type": "object",
        "properties": {"red": {"type": "integer", "description": "As of roses."}, "blue": {"type": "integer"}},
        "additionalProperties": False,
    }


def test_a_parameter_is_absent_rather_than_null_and_has_its_default() -> None:
    schemas = schemas_of(queries=(PeopleQuery,))

    color, name, tags = schemas.parameters_of(PeopleQuery)
    assert color["schema"] == {"$ref": "#/components/schemas/Color", "default": "blue"}
    assert name == {
        "name": "name",
        "in": "query",
        "required": False,
        "description": "A part of it.",
        "schema": {"type": "string", "maxLength": 9},
    }
    assert tags["schema"] == {"type": "array", "items": {"type": "string"}}
    assert tags["description"] == QUERY_PARAMETERS["tags"]
    assert set(schemas.components) == {"Color"}
