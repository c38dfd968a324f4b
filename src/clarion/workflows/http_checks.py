"""What is wrong with the controls of an HTTP step: its URL, headers, time limit and schema."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from clarion.providers.definition.result import SendFailure
from clarion.providers.transport.calls import check_headers
from clarion.templates import Reference, TemplateProblem, has_markup, list_references
from clarion.workflows.controls import (
    MAX_TIMEOUT_SECONDS,
    HttpMethod,
    HttpRequestControls,
    OnFailure,
    Share,
)
from clarion.workflows.payloads import check_schema

MAX_URL: Final = 2_048
SIGNED_HEADERS: Final = frozenset({"webhook-id", "webhook-timestamp", "webhook-signature"})
"""They are set by Clarion, so that receivers can rely on them."""
BODILESS: Final = frozenset({HttpMethod.GET, HttpMethod.DELETE})
SHARED_VARIABLES: Final = frozenset({"payload", "context", "workflow", "env", "actor"})
"""What a request for a whole trigger knows: it is the same for all people."""
_ENV: Final = r"\{\{-?\s*env\.\w+\s*-?\}\}"
_HOST: Final = rf"(?:[^\s{{}}/?#\\@]|{_ENV})+"
_CHOSEN_BY_STEP: Final = re.compile(rf"(?:https?://{_HOST}|{_ENV}(?:{_HOST})?)(?:[/?#].*)?", re.DOTALL)
_CHOSEN_BY_TRIGGER: Final = re.compile(r"\{\{[^{}]*\}\}")
_URL_RULE: Final = (
    "must begin with https:// or http:// and the whole host in plain text or in variables of `env`, or be one variable "
    "that has all of the URL"
)
_NO_SECRETS: Final = (
    "is chosen by who triggers the workflow, who would be sent the variables of the environment in `{where}`: give the "
    "host in plain text or in `env`, or leave these variables out"
)
_SMALLEST_MILLISECONDS: Final = 100


def list_request_problems(controls: HttpRequestControls) -> Iterator[tuple[str, str]]:
    """Yield everything that keeps the controls from being saved, with the paths."""
    if controls.url and (problem := _find_url_problem(controls)):
        yield "url", problem
    yield from _list_header_problems(controls)
    if controls.timeout is not None and MAX_TIMEOUT_SECONDS < controls.timeout < _SMALLEST_MILLISECONDS:
        yield "timeout", f"must be at most {MAX_TIMEOUT_SECONDS} seconds, or be given in milliseconds from 100 on"
    if controls.on_failure is not None and controls.continue_on_failure is not None:
        goes_on = controls.on_failure is OnFailure.CONTINUE
        if goes_on is not controls.continue_on_failure:
            yield "continueOnFailure", "says the opposite of `onFailure`; leave one of both out"
    if controls.response_body_schema is not None and (problem := check_schema(controls.response_body_schema)):
        yield "responseBodySchema", problem


def list_request_warnings(controls: HttpRequestControls) -> Iterator[tuple[str, str]]:
    """Yield what is saved and has no effect, with the paths."""
    if controls.body and controls.method in BODILESS:
        yield "body", f"is not sent: requests with {controls.method} have none"
    if controls.enforce_schema_validation and controls.response_body_schema is None:
        yield "enforceSchemaValidation", "has no effect without `responseBodySchema`"


def list_personal_uses(controls: HttpRequestControls) -> Iterator[tuple[str, str]]:
    """Yield the variables that a request for a whole trigger does not know, with the paths."""
    if controls.share is not Share.TRIGGER:
        return
    for path, text in (("url", controls.url or ""), *_list_sent(controls)):
        for name in sorted({str(reference[0]) for reference in _list_references(text)} - SHARED_VARIABLES):
            yield path, f"'{name}' is empty here: the request is made once for all people of a trigger"


def _find_url_problem(controls: HttpRequestControls) -> str | None:
    url = controls.url or ""
    if len(url) > MAX_URL:
        return f"must have at most {MAX_URL} characters"
    if _CHOSEN_BY_STEP.fullmatch(url):
        return None
    if not _CHOSEN_BY_TRIGGER.fullmatch(url):
        return _URL_RULE
    where = next((path for path, text in _list_sent(controls) if _names_env(text)), None)
    return None if where is None else _NO_SECRETS.format(where=where)


def _list_sent(controls: HttpRequestControls) -> Iterator[tuple[str, str]]:
    for number, header in enumerate(controls.headers or ()):
        yield f"headers.{number}.value", header.value
    body = controls.body
    yield "body", body if isinstance(body, str) else msgspec.json.encode(body).decode()


def _names_env(text: str) -> bool:
    return any(reference[0] == "env" for reference in _list_references(text))


def _list_references(text: str) -> Sequence[Reference]:
    if not has_markup(text):
        return ()
    try:
        return list_references(text)
    except TemplateProblem:
        # Named as a problem of its own.
        return ()


def _list_header_problems(controls: HttpRequestControls) -> Iterator[tuple[str, str]]:
    for number, header in enumerate(controls.headers or ()):
        path = f"headers.{number}.key"
        if header.key.lower() in SIGNED_HEADERS:
            yield path, "is set by Clarion, which signs the request"
            continue
        try:
            check_headers({header.key: ""})
        except SendFailure as failure:
            yield path, f"is no header that a step can set: {failure.message}"
