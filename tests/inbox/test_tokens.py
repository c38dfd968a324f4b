"""Tokens of sessions: what is accepted, and what is refused."""

import base64
import json
from typing import Any

import jwt
import pytest

from clarion.clock import Millis
from clarion.errors import Unauthenticated
from clarion.http.caller import SubscriberSession
from clarion.ids import EnvironmentId, OrganizationId, SubscriberId, id_text
from clarion.inbox.sessions.tokens import AUDIENCE, LIFETIME, SessionTokens
from clarion.vault import Vault

ENVIRONMENT = EnvironmentId(b"e" * 16)
ORGANIZATION = OrganizationId(b"o" * 16)
SESSION = SubscriberSession(subscriber_id=SubscriberId(b"s" * 16), epoch=3, context_keys=("team:red",))
OLD, NEW = b"1" * 32, b"2" * 32


class SetClock:
    def __init__(self, now: int) -> None:
        self._now = now

    def now(self) -> Millis:
        return Millis(self._now)


def _tokens(keys: dict[str, bytes] | None = None, *, now: int = 1_000_000) -> SessionTokens:
    return SessionTokens(Vault(keys or {"new": NEW}), SetClock(now))


def _forge(claims: dict[str, Any], *, key: bytes = NEW, algorithm: str = "HS256", key_id: str = "new") -> str:
    good = {
        "aud": AUDIENCE,
        "iat": 1_000,
        "exp": 10_000,
        "sub": id_text(SESSION.subscriber_id),
        "env": id_text(ENVIRONMENT),
        "org": id_text(ORGANIZATION),
        "epoch": 3,
    }
    return jwt.encode(good | claims, key, algorithm, headers={"kid": key_id})


def test_a_token_says_whose_session_it_is() -> None:
    tokens = _tokens()
    caller = tokens.read(tokens.issue(SESSION, ENVIRONMENT, ORGANIZATION))
    assert (caller.environment_id, caller.organization_id, caller.session) == (ENVIRONMENT, ORGANIZATION, SESSION)
    assert not caller.scopes


def test_a_token_holds_until_its_last_moment_and_not_longer() -> None:
    token = _tokens(now=0).issue(SESSION, ENVIRONMENT, ORGANIZATION)
    assert _tokens(now=LIFETIME - 1).read(token).session == SESSION
    with pytest.raises(Unauthenticated):
        _tokens(now=LIFETIME).read(token)


def test_a_token_of_an_older_key_holds_as_long_as_the_vault_has_that_key() -> None:
    token = _tokens({"old": OLD}).issue(SESSION, ENVIRONMENT, ORGANIZATION)
    assert _tokens({"new": NEW, "old": OLD}).read(token).session == SESSION
    with pytest.raises(Unauthenticated):
        _tokens({"new": NEW}).read(token)


@pytest.mark.parametrize(
    "token",
    [
        "",
        "no token",
        "a.b.c",
        _forge({}),
        _forge({}, key_id="other"),
        _forge({}, key=b"3" * 32),
        jwt.encode({"sub": "x"}, "", "none", headers={"kid": "new"}),
    ],
)
def test_forged_tokens_are_refused(token: str) -> None:
    with pytest.raises(Unauthenticated):
        _tokens().read(token)


def test_a_token_without_signature_is_refused() -> None:
    head, claims, _ = _tokens().issue(SESSION, ENVIRONMENT, ORGANIZATION).split(".")
    for algorithm in ("none", "None", "NONE", "HS256"):
        header = base64.urlsafe_b64encode(json.dumps({"alg": algorithm, "kid": "new"}).encode()).rstrip(b"=").decode()
        for first in (head, header):
            with pytest.raises(Unauthenticated):
                _tokens().read(f"{first}.{claims}.")


@pytest.mark.parametrize(
    "claims", [{"aud": "other"}, {"sub": "ada"}, {"env": 7}, {"exp": None}, {"epoch": None}, {"ctx": 5}, {"exp": "x"}]
)
def test_signed_tokens_with_other_claims_are_refused(claims: dict[str, Any]) -> None:
    key = Vault({"new": NEW}).signing_keys(purpose=b"sessions")["new"]
    assert _tokens().read(_forge({}, key=key)).environment_id == ENVIRONMENT
    with pytest.raises(Unauthenticated):
        _tokens().read(_forge(claims, key=key))


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "ApiKey abc", "Basic abc"])
def test_other_authorization_headers_are_refused(header: str | None) -> None:
    with pytest.raises(Unauthenticated, match="Bearer"):
        _tokens().authenticate(header)
