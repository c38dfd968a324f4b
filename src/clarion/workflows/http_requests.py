"""Requests of HTTP steps: rendered from the controls, what people are shown of them, and the secrets in them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from clarion.jsontext import json_text
from clarion.providers.definition.request import to_single_line
from clarion.workflows.content import ContentProblem, render_control
from clarion.workflows.controls import HttpMethod, HttpRequestControls, Share
from clarion.workflows.http_checks import BODILESS, SHARED_VARIABLES

MAX_BODY: Final = 256 << 10
"""Characters of a rendered body."""
_JSON: Final = "application/json"
_CONTENT_TYPE: Final = "content-type"
_SHORTEST_SECRET: Final = 4
_URL_SIGNS: Final = re.compile(r"[/?&=#]")

Headers = list[tuple[str, str]]
_Rendered = tuple[str, Headers, str | None]
"""URL, headers and body."""


class HttpRequest(Struct, frozen=True, kw_only=True):
    """A request as it is made; it has secrets, so that it is stored sealed."""

    method: HttpMethod
    url: str
    headers: Headers = []
    body: str | None = None
    seconds: float
    """How long an answer is waited for."""
    shown_url: str
    """What people are shown of the URL: no query, and no secrets."""
    secrets: list[str] = []
    """What is masked where the answer repeats it."""
    key: str | None = None
    """What it is recognised by in every attempt, if not by its job."""

    def __repr__(self) -> str:
        return f"HttpRequest({self.method} {self.shown_url})"

    @property
    def host(self) -> str:
        """The host of the URL with its port, which is a server of its own."""
        return find_host(self.url)


def render_request(
    controls: HttpRequestControls, variables: Mapping[str, Any], masked_env: Mapping[str, str]
) -> HttpRequest:
    """Render a request; raises ContentProblem. `masked_env` is what people may see of `env`."""
    url, headers, body = _render(controls, variables)
    if url == "":
        raise ContentProblem("url", "is empty")
    shown_url, secrets = url, list[str]()
    if variables.get("env") != masked_env:
        shown = _render_masked(controls, {**variables, "env": masked_env}, url)
        shown_url, secrets = shown[0], _list_secrets(variables["env"], masked_env, (url, headers, body), shown)
    return HttpRequest(
        method=controls.method or HttpMethod.POST,
        url=url,
        headers=headers,
        body=body,
        seconds=controls.seconds,
        shown_url=_without_query(shown_url),
        secrets=[one for one in secrets if len(one) >= _SHORTEST_SECRET],
    )


def choose_variables(controls: HttpRequestControls, variables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the variables that the request knows: nothing of a person, if it is made for a whole trigger."""
    if controls.share is not Share.TRIGGER:
        return variables
    return {name: value for name, value in variables.items() if name in SHARED_VARIABLES}


def find_host(url: str) -> str:
    try:
        return urlsplit(url).netloc.rpartition("@")[2].lower()
    except ValueError:
        # It is refused when it is called.
        return ""


def _render(controls: HttpRequestControls, variables: Mapping[str, Any]) -> _Rendered:
    url = render_control("url", controls.url or "", variables).strip()
    headers = [
        (one.key, to_single_line(render_control(f"headers.{number}.value", one.value, variables)))
        for number, one in enumerate(controls.headers or ())
    ]
    body = None if controls.method in BODILESS else _render_body(controls, headers, variables)
    if body is not None and len(body) > MAX_BODY:
        raise ContentProblem("body", f"has more than {MAX_BODY} characters when it is rendered")
    if body is not None and not any(name.lower() == _CONTENT_TYPE for name, _ in headers):
        headers = [("Content-Type", _JSON), *headers]
    return url, headers, body


def _render_masked(controls: HttpRequestControls, variables: Mapping[str, Any], url: str) -> _Rendered:
    """Render what people may see; nothing but the host if that cannot be rendered without the secrets."""
    try:
        return _render(controls, variables)
    except ContentProblem:
        return f"{url.partition('://')[0]}://{find_host(url)}", [], None


def _render_body(controls: HttpRequestControls, headers: Headers, variables: Mapping[str, Any]) -> str | None:
    match controls.body:
        case str(text):
            rendered = render_control("body", text, variables)
            if rendered.strip() and _is_json(headers):
                _check_json(rendered)
            return rendered if rendered.strip() else None
        case list(pairs):
            values = {one.key: one.value for one in pairs}
            return json_text(render_control("body", values, variables)) if values else None
        case dict(members):
            return json_text(render_control("body", members, variables)) if members else None
        case _:
            return None


def _is_json(headers: Headers) -> bool:
    given = next((value for name, value in headers if name.lower() == _CONTENT_TYPE), _JSON)
    kind = given.partition(";")[0].strip().lower()
    return kind == _JSON or kind.endswith("+json")


def _check_json(text: str) -> None:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        reason = f"is no JSON when it is rendered ({error}); `{{{{value | json}}}}` writes a value as JSON"
        raise ContentProblem("body", reason) from None


def _list_secrets(
    env: Mapping[str, str], masked_env: Mapping[str, str], sent: _Rendered, shown: _Rendered
) -> list[str]:
    """The values of secret variables that are sent, and what filters made of them."""
    parts, others = dict.fromkeys(_list_parts(sent)), set(_list_parts(shown))
    values = [value for name, value in env.items() if masked_env.get(name) != value]
    sent_values = [value for value in values if any(value in part for part in parts)]
    return list(dict.fromkeys([*sent_values, *(part for part in parts if part not in others)]))


def _list_parts(rendered: _Rendered) -> Iterator[str]:
    url, headers, body = rendered
    # The host comes first, and is no secret.
    yield from _URL_SIGNS.split(url.partition("://")[2])[1:]
    for _, value in headers:
        yield from (value, *value.split())
    if body is not None:
        yield from _list_texts(_read_json(body))


def _read_json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _list_texts(inner)


def _without_query(url: str) -> str:
    return url.partition("?")[0].partition("#")[0]
