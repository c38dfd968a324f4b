"""Slack, Microsoft and Webex on loopback: they grant what they are asked for."""

import base64
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.providers.contract.vendor import Received, Reply

TENANT = "72f988bf-86f1-41af-91ab-2d7cd011db47"
PERSON = "6c31fd2c-0a8b-4c0e-9a52-3d2c1b8f7a10"


class Slack:
    """Answers the exchange of codes; `grant` is what it gives."""

    def __init__(self) -> None:
        self.codes: list[dict[str, list[str]]] = []
        self.grant: dict[str, object] = {
            "ok": True,
            "access_token": "xoxb-granted",
            "bot_user_id": "UBOT",
            "team": {"id": "T1", "name": "Acme"},
            "authed_user": {"id": "U1"},
        }

    def answer(self, request: Received) -> Reply:
        assert request.url == "https://slack.com/api/oauth.v2.access"
        self.codes.append(parse_qs(request.body.decode()))
        return Reply(body=json.dumps(self.grant))


class Microsoft:
    """Answers sign-ins, asks for tokens, and what is asked of Graph."""

    def __init__(self) -> None:
        self.forms: list[tuple[str, dict[str, str]]] = []
        self.claims: dict[str, object] = {"aud": "app-1", "tid": TENANT, "oid": PERSON, "exp": 4_102_444_800, "nbf": 0}
        self.claims["iss"] = f"https://login.microsoftonline.com/{TENANT}/v2.0"
        self.graph: dict[str, Reply] = {
            "GET appCatalogs": Reply(body=json.dumps({"value": [{"id": "catalog-1"}]})),
            "POST users": Reply(status=201),
        }
        self.asked: list[tuple[str, str | None, Any]] = []

    def answer(self, request: Received) -> Reply:
        parts = urlsplit(request.url)
        if parts.netloc == "graph.microsoft.com":
            self.asked.append((request.url, request.headers.get("authorization"), request.body))
            return self.graph[f"{request.method} {parts.path.split('/')[2]}"]
        assert parts.netloc == "login.microsoftonline.com"
        form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        self.forms.append((parts.path.split("/")[1], form))
        if form["grant_type"] == "client_credentials":
            return Reply(body=json.dumps({"access_token": "app-token", "expires_in": 3599}))
        return Reply(body=json.dumps({"id_token": id_token(self.claims), "access_token": "of-the-person"}))


def id_token(claims: dict[str, object]) -> str:
    """A token as Microsoft signs it; nobody checks the signature of one that came over TLS."""
    parts = [base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=") for one in ({}, claims)]
    return f"{parts[0]}.{parts[1]}.c2lnbmVk"


class Webex:
    """Answers exchanges of codes and of refresh tokens, and says who the person is."""

    def __init__(self) -> None:
        self.forms: list[dict[str, str]] = []
        self.grant: dict[str, object] = {
            "access_token": "webex-access",
            "expires_in": 1_209_600,
            "refresh_token": "webex-refresh",
            "refresh_token_expires_in": 7_776_000,
        }
        self.person: dict[str, object] = {"id": "person-1", "orgId": "org-1", "displayName": "Ada"}
        self.status = 200

    def answer(self, request: Received) -> Reply:
        if request.url == "https://webexapis.com/v1/people/me":
            return Reply(body=json.dumps(self.person))
        assert request.url == "https://webexapis.com/v1/access_token"
        self.forms.append({name: values[0] for name, values in parse_qs(request.body.decode()).items()})
        return Reply(status=self.status, body=json.dumps(self.grant))


def query_of(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


class Telegram:
    """Answers for bots; `refusals` are methods with what it says instead, and `calls` what it was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, dict[str, object]]] = []
        self.bots = {"123:the-first-token": "acme_bot", "456:another-token": "other_bot"}
        self.refusals: dict[str, Reply] = {}

    @property
    def secret(self) -> str:
        """What the webhook that was set last proves itself with."""
        return str(next(body for _, method, body in reversed(self.calls) if method == "setWebhook")["secret_token"])

    def answer(self, request: Received) -> Reply:
        token, method = request.url.removeprefix("https://api.telegram.org/bot").replace("%3A", ":").split("/")
        self.calls.append((token, method, json.loads(request.body or b"{}")))
        if method in self.refusals:
            return self.refusals[method]
        if token not in self.bots:
            return Reply(status=401, body={"ok": False, "error_code": 401, "description": "Unauthorized"})
        bot = {"id": int(token.partition(":")[0]), "is_bot": True, "username": self.bots[token]}
        return Reply(body={"ok": True, "result": bot if method == "getMe" else True})
