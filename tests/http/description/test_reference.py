"""The reference page shows what the API description says."""

import json
from html.parser import HTMLParser
from typing import Any

from clarion.http.description.reference import render_reference
from tests.contract.description import DESCRIPTION

PERSON = {
    "type": "object",
    "description": "Somebody",
    "properties": {
        "name": {"type": "string", "maxLength": 9, "description": "The `name` of <them>."},
        "friend": {"anyOf": [{"$ref": "#/components/schemas/Person"}, {"type": "null"}], "description": "Who helps."},
        "zone": {
            "anyOf": [{"type": "string", "description": "must be a zone"}, {"type": "null"}],
            "description": "Where.",
        },
        "level": {"$ref": "#/components/schemas/Level", "description": "How much."},
    },
    "required": ["friend"],
}
API: dict[str, Any] = {
    "info": {"title": "Clarion", "version": "1", "description": "About it"},
    "tags": [{"name": "People"}],
    "paths": {
        "/people/{id}": {
            "put": {
                "operationId": "put_person",
                "summary": "Change somebody.",
                "tags": ["People"],
                "parameters": [
                    {
                        "name": "id",
                        "in": "path",
                        "required": True,
                        "description": "Whom.",
                        "schema": {"type": "string"},
                    },
                    {
                        "name": "force",
                        "in": "query",
                        "required": False,
                        "description": "Whether to.",
                        "schema": {"type": "boolean", "default": False},
                    },
                ],
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {"$ref": "#/components/schemas/Person"},
                            "examples": {"example": {"value": {"name": "Ada"}}},
                        }
                    }
                },
                "responses": {"204": {"description": "No Content"}},
            }
        }
    },
    "components": {"schemas": {"Person": PERSON, "Level": {"type": "string", "enum": ["high", "low"]}}},
}


class Links(HTMLParser):
    """Collects where a page's links within it lead, and the places that they can lead to."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.places: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if (found.get("href") or "").startswith("#"):
            self.targets.add(str(found["href"])[1:])
        if "id" in found:
            self.places.append(str(found["id"]))


def page_of(api: dict[str, Any]) -> str:
    return render_reference(json.dumps(api).encode()).decode()


def test_fields_and_parameters_have_their_descriptions() -> None:
    page = page_of(API)

    assert "<td>Whom.<div class=soft>string</div>" in page
    assert "<td>Whether to.<div class=soft>boolean (default: false)</div>" in page
    assert "<td>The <code>name</code> of &lt;them&gt;.<div class=soft>string (at most 9 characters)</div>" in page
    assert "<td>Where. Must be a zone.<div class=soft>string or null</div>" in page
    assert "<td>How much.<div class=soft>one of <code>high</code>, <code>low</code></div>" in page


def test_an_object_inside_another_is_a_link_to_its_shape() -> None:
    assert "<td>Who helps.<div class=soft><a href='#shape-Person'>Person</a> or null</div>" in page_of(API)


def test_every_link_within_the_page_leads_somewhere() -> None:
    links = Links()
    links.feed(page_of(DESCRIPTION))

    assert links.targets - set(links.places) == set()
    assert len(links.places) == len(set(links.places))
