"""The controls of HTTP steps: what is refused when saved, what is warned of, how they are rendered."""

from typing import Any

import pytest

from clarion.vocabulary import StepType
from clarion.workflows.content import ContentProblem
from clarion.workflows.control_checks import check_controls
from clarion.workflows.controls import HttpRequestControls, read_as
from clarion.workflows.http_requests import HttpRequest, render_request
from clarion.workflows.issues import find_issues, find_warnings
from clarion.workflows.model import Step
from clarion.workflows.outputs import describe_outputs
from clarion.workflows.preview import render_preview
from clarion.workflows.schema_examples import make_example

URL = "https://example.com/a"


def problems(**controls: Any) -> list[str]:
    return [path for path, _ in check_controls(StepType.HTTP_REQUEST, {"url": URL, **controls})]


def render(controls: dict[str, Any], masked: dict[str, str] | None = None, **variables: Any) -> HttpRequest:
    env = variables.get("env", {})
    return render_request(read_as(HttpRequestControls, controls), variables, env if masked is None else masked)


@pytest.mark.parametrize(
    "url",
    [
        *("https://example.com", "http://example.com:8080/a?b={{payload.b}}", "https://example.com/{{payload.a}}/b"),
        *("{{env.BASE}}", "{{ env.BASE }}/people/{{payload.id}}", "https://{{env.HOST}}/a", "https://eu.{{env.HOST}}"),
        *("{{payload.url}}", "{{subscriber.data.callback | strip}}", "https://[2001:db8::1]/a", ""),
    ],
)
def test_the_step_says_which_host_is_called_or_the_payload_has_all_of_the_url(url: str) -> None:
    assert problems(url=url) == []


@pytest.mark.parametrize(
    "url",
    [
        *("example.com", "ftp://example.com", "https://{{payload.host}}/a", "https://example.com{{payload.path}}"),
        *("{{env.BASE}}{{payload.path}}", "https://{{env.A}}{{payload.b}}/", "{{payload.base}}/a", "/relative"),
        *("https://user:secret@example.com/", "{% if a %}https://example.com{% endif %}", "https:// example.com"),
    ],
)
def test_nobody_else_chooses_a_part_of_the_host(url: str) -> None:
    assert problems(url=url) == ["url"]


def test_a_url_of_the_payload_gets_no_variables_of_the_environment() -> None:
    headers = [{"key": "X-Key", "value": "{{env.KEY}}"}]

    assert problems(url="{{payload.url}}", headers=headers) == ["url"]
    assert problems(url="{{payload.url}}", body={"a": "{% assign e = env %}{{e.KEY}}"}) == ["url"]
    assert problems(url="{{env.URL}}", headers=headers) == []


@pytest.mark.parametrize("name", ["Host ", "Content-Length", "webhook-signature", "Webhook-Id", "{{payload.name}}", ""])
def test_headers_that_a_step_cannot_set_are_refused(name: str) -> None:
    assert problems(headers=[{"key": name, "value": "x"}]) == ["headers.0.key"]


@pytest.mark.parametrize(("timeout", "seconds"), [(None, 5), (0.5, 0.5), (15, 15), (100, 0.1), (5000, 5), (15_000, 15)])
def test_time_limits_are_in_seconds_and_large_ones_in_milliseconds(timeout: float | None, seconds: float) -> None:
    assert problems(timeout=timeout) == []
    assert read_as(HttpRequestControls, {"timeout": timeout}).seconds == seconds


@pytest.mark.parametrize("timeout", [0, -1, 15.5, 16, 99, 15_001])
def test_other_time_limits_are_refused(timeout: float) -> None:
    assert problems(timeout=timeout) == ["timeout"]


def test_contradictions_and_broken_schemas_are_refused() -> None:
    assert problems(onFailure="stop", continueOnFailure=True) == ["continueOnFailure"]
    assert problems(onFailure="continue", continueOnFailure=True) == []
    assert problems(responseBodySchema={"type": 7}) == ["responseBodySchema"]
    assert problems(responseBodySchema={"description": "{{ no Liquid"}) == []
    assert problems(body="{{ broken") == ["body"]


def make_step(**controls: Any) -> Step:
    return Step(id="1", step_id="fetch", name="Fetch", type=StepType.HTTP_REQUEST, controls=controls)


def test_what_is_missing_is_an_issue_and_what_has_no_effect_a_warning() -> None:
    assert [one.path for one in find_issues(make_step())] == ["url"]
    warned = find_warnings(make_step(url=URL, method="GET", body="x", enforceSchemaValidation=True))
    assert [path for path, _ in warned] == ["body", "enforceSchemaValidation"]


@pytest.mark.parametrize(
    ("controls", "stops"),
    [
        ({}, True),
        ({"onFailure": "continue"}, False),
        ({"continueOnFailure": True}, False),
        ({"onFailure": "stop"}, True),
    ],
)
def test_a_run_ends_with_a_failed_step_unless_it_says_otherwise(controls: dict[str, Any], stops: bool) -> None:
    assert make_step(**controls).stops_on_failure is stops


def test_what_is_shown_of_a_url_has_no_query_and_no_secrets() -> None:
    controls = {"url": "https://example.com/{{env.KEY}}/a?b={{env.KEY}}#c"}
    request = render(controls, {"KEY": "••••"}, env={"KEY": "a-secret"})

    assert request.shown_url == "https://example.com/••••/a"
    assert request.secrets == ["a-secret"]
    assert "a-secret" not in repr(request)


def test_a_secret_that_makes_the_json_is_masked_all_the_same() -> None:
    controls = {"url": URL, "body": '{"pin": {{env.PIN}}, "t": "{{env.PIN | append: \'-x\'}}"}'}
    request = render(controls, {"PIN": "••••"}, env={"PIN": "47114711"})

    assert request.body == '{"pin": 47114711, "t": "47114711-x"}'
    assert "47114711-x" in request.secrets
    assert request.shown_url == "https://example.com"


def test_a_body_that_is_too_long_is_named() -> None:
    with pytest.raises(ContentProblem, match="body has more than"):
        render({"url": URL, "body": {"a": "{{payload.a}}"}}, payload={"a": "x" * 300_000})


def test_later_steps_know_the_members_of_the_body() -> None:
    schema = {"type": "object", "properties": {"plan": {"type": "string"}}}
    assert describe_outputs(make_step(responseBodySchema=schema))["properties"]["body"] == schema
    assert describe_outputs(make_step())["properties"]["body"] == {}


def test_examples_are_made_from_schemas() -> None:
    schema = {
        "type": "object",
        "properties": {
            "plan": {"enum": ["pro", "free"]},
            "since": {"type": "string", "format": "date"},
            "seats": {"type": ["integer", "null"]},
            "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}},
            "more": {"anyOf": [{"type": "object", "properties": {"a": {"default": 3}}}, {"type": "null"}]},
            "any": {},
        },
        "$defs": {"tag": {"type": "string", "examples": ["new"]}},
    }
    assert make_example(schema) == {
        "plan": "pro",
        "since": "2026-01-31",
        "seats": 1,
        "tags": ["new"],
        "more": {"a": 3},
        "any": None,
    }
    assert make_example({"$ref": "#"}) is None


def test_a_preview_shows_the_request_and_an_example_of_the_answer() -> None:
    controls = {
        "method": "POST",
        "url": "https://example.com/{{payload.order}}",
        "body": {"order": "{{payload.order}}"},
        "responseBodySchema": {"properties": {"plan": {"default": "pro"}}},
    }
    shown = render_preview(StepType.HTTP_REQUEST, controls, {"payload": {"order": 7}, "env": {}}, None)

    assert shown == {
        "method": "POST",
        "url": "https://example.com/7",
        "headers": [{"key": "Content-Type", "value": "application/json"}],
        "body": '{"order":"7"}',
        "answer": {
            "ok": True,
            "status": 200,
            "headers": {"content-type": "application/json"},
            "body": {"plan": "pro"},
        },
    }
    assert render_preview(StepType.HTTP_REQUEST, {}, {"payload": {}, "env": {}}, None)["method"] == "POST"
