"""Slack on loopback: it grants what it is asked for."""

import json
from urllib.parse import parse_qs, urlsplit

from tests.providers.contract.vendor import Received, Reply


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


def query_of(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
