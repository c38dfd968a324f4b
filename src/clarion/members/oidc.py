"""Signing in with OpenID Connect: the authorization code flow with PKCE.

What belongs to one attempt is sealed in a cookie of the browser, so that any API process can finish it and nothing is
stored for attempts that are given up. The provider is named by the operator, so the egress guard does not apply.
"""

import base64
import hashlib
import hmac
import secrets
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus, urlencode

import jwt
import msgspec
from msgspec import Struct

from clarion.clock import HOUR, MINUTE, Clock, Millis
from clarion.errors import ClarionError
from clarion.jsontext import json_text
from clarion.members.oidc_problem import OidcProblem, OidcRefusal
from clarion.secret import Secret
from clarion.vault import Vault

if TYPE_CHECKING:
    from clarion.members.oidc_http import OidcHttp

_DISCOVERY = "/.well-known/openid-configuration"
_SEAL_CONTEXT = b"oidc attempt"
_MAX_ATTEMPT = Millis(10 * MINUTE)
_METADATA_CACHED_FOR = Millis(HOUR)
_LEEWAY_SECONDS = 60
# The second one is Microsoft's, which does not send the first: that the owner of the domain is verified.
_VERIFIED_CLAIMS = ("email_verified", "xms_edov")
# Signatures of the provider's own key pair: a shared secret or `none` would let others make tokens.
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]


class OidcProvider(Struct, frozen=True, kw_only=True):
    """The provider as the operator configured it."""

    issuer: str
    client_id: str
    client_secret: Secret | None
    redirect_url: str
    trusts_addresses: bool = False
    """Whether its addresses count as verified unless it says that they are not."""


class Attempt(Struct, frozen=True):
    """What begins an attempt: where the browser goes, and the text for its cookie."""

    url: str
    cookie: str


class Identity(Struct, frozen=True):
    """Who the provider says the person is; it has verified the address."""

    email: str
    name: str


class Finished(Struct, frozen=True):
    """An attempt that succeeded: who signed in, and the path that they wanted to see."""

    identity: Identity
    return_path: str


class _Tokens(Struct, frozen=True):
    id_token: str
    access_token: str | None = None


class _Metadata(Struct, frozen=True):
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class _StoredAttempt(Struct, frozen=True):
    state: str
    nonce: str
    verifier: str
    began_at: int
    return_path: str


class OidcClient:
    """Begins and finishes attempts to sign in with one provider."""

    def __init__(self, provider: OidcProvider, vault: Vault, clock: Clock) -> None:
        self._provider = provider
        self._vault = vault
        self._clock = clock
        self._metadata: _Metadata | None = None
        self._keys: jwt.PyJWKSet | None = None
        self._fetched_at = Millis(0)

    async def begin(self, return_path: str = "/") -> Attempt:
        async with _open_http() as http:
            metadata = await self._get_metadata(http)
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        stored = _StoredAttempt(state, nonce, verifier, self._clock.now(), return_path)
        query = {
            "response_type": "code",
            "client_id": self._provider.client_id,
            "redirect_uri": self._provider.redirect_url,
            "scope": "openid email profile",
            "state": stored.state,
            "nonce": stored.nonce,
            "code_challenge": _challenge(stored.verifier),
            "code_challenge_method": "S256",
        }
        mark = "&" if "?" in metadata.authorization_endpoint else "?"
        cookie = self._vault.seal(json_text(stored), context=_SEAL_CONTEXT)
        return Attempt(f"{metadata.authorization_endpoint}{mark}{urlencode(query)}", cookie)

    async def finish(self, cookie: str, *, state: str, code: str) -> Finished:
        """Return who signed in; raises OidcProblem if the answer does not belong to the attempt, or is not valid."""
        stored = self._open(cookie)
        if not hmac.compare_digest(stored.state.encode(), state.encode()):
            raise OidcProblem("The answer belongs to another attempt to sign in", OidcRefusal.BEGIN_AGAIN)
        async with _open_http() as http:
            metadata = await self._get_metadata(http)
            tokens = await self._exchange(http, metadata, code, stored.verifier)
            claims = await self._verify(http, metadata, tokens.id_token)
            if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), stored.nonce.encode()):
                raise OidcProblem("The ID token belongs to another attempt to sign in", OidcRefusal.BEGIN_AGAIN)
            if "email" not in claims:
                claims = await _add_user_info(http, metadata, tokens, claims)
        return Finished(_identity_of(claims, trusts_addresses=self._provider.trusts_addresses), stored.return_path)

    def _open(self, cookie: str) -> _StoredAttempt:
        try:
            stored = msgspec.json.decode(self._vault.open(cookie, context=_SEAL_CONTEXT), type=_StoredAttempt)
        except (ClarionError, msgspec.DecodeError, ValueError):
            raise OidcProblem("This attempt to sign in is not known", OidcRefusal.BEGIN_AGAIN) from None
        if self._clock.now() - stored.began_at > _MAX_ATTEMPT:
            raise OidcProblem("Signing in took too long", OidcRefusal.BEGIN_AGAIN)
        return stored

    async def _get_metadata(self, http: "OidcHttp") -> _Metadata:
        if self._metadata is None or self._clock.now() - self._fetched_at > _METADATA_CACHED_FOR:
            found = await http.fetch(self._provider.issuer.rstrip("/") + _DISCOVERY)
            try:
                metadata = msgspec.convert(found, _Metadata)
            except msgspec.ValidationError as error:
                raise OidcProblem(f"The provider's description is not complete: {error}") from None
            if metadata.issuer.rstrip("/") != self._provider.issuer.rstrip("/"):
                raise OidcProblem(f"The provider calls itself {metadata.issuer}, not {self._provider.issuer}")
            self._metadata, self._keys, self._fetched_at = metadata, None, self._clock.now()
        return self._metadata

    async def _exchange(self, http: "OidcHttp", metadata: _Metadata, code: str, verifier: str) -> _Tokens:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._provider.redirect_url,
            "code_verifier": verifier,
            "client_id": self._provider.client_id,
        }
        headers: dict[str, str] = {}
        secret = self._provider.client_secret
        if secret is not None and "client_secret_post" in metadata.token_endpoint_auth_methods_supported:
            form["client_secret"] = secret.reveal()
        elif secret is not None:
            names = quote_plus(self._provider.client_id), quote_plus(secret.reveal())
            headers["Authorization"] = "Basic " + base64.b64encode(":".join(names).encode()).decode()
        found = await http.fetch(metadata.token_endpoint, form=form, headers=headers)
        try:
            return msgspec.convert(found, _Tokens)
        except msgspec.ValidationError:
            raise OidcProblem("The provider sent no ID token") from None

    async def _verify(self, http: "OidcHttp", metadata: _Metadata, token: str) -> dict[str, Any]:
        try:
            header = jwt.get_unverified_header(token)
            key = await self._find_key(http, metadata, header.get("kid"))
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=_ALGORITHMS,
                audience=self._provider.client_id,
                issuer=metadata.issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError as error:
            raise OidcProblem(f"The provider's ID token is not valid: {error}") from None
        return claims

    async def _find_key(self, http: "OidcHttp", metadata: _Metadata, key_id: str | None) -> jwt.PyJWK:
        for is_last in (False, True):
            if self._keys is None or is_last:  # The provider may have changed its keys since.
                self._keys = jwt.PyJWKSet.from_dict(await http.fetch(metadata.jwks_uri))
            for key in self._keys.keys:
                if key_id is None or key.key_id == key_id:
                    return key
        raise OidcProblem("The provider's ID token is signed with a key that it does not publish")


def _open_http() -> "AbstractAsyncContextManager[OidcHttp]":
    # Imported here, because few installations sign in with a provider.
    from clarion.members.oidc_http import open_oidc_http  # noqa: PLC0415

    return open_oidc_http()


def _challenge(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


async def _add_user_info(
    http: "OidcHttp", metadata: _Metadata, tokens: _Tokens, claims: dict[str, Any]
) -> dict[str, Any]:
    """Ask for what the provider leaves out of ID tokens; the answer must be about the same person."""
    if metadata.userinfo_endpoint is None or tokens.access_token is None:
        return claims
    headers = {"Authorization": f"Bearer {tokens.access_token}"}
    found = await http.fetch(metadata.userinfo_endpoint, headers=headers)
    return found | claims if found.get("sub") == claims["sub"] else claims


def _identity_of(claims: dict[str, Any], *, trusts_addresses: bool) -> Identity:
    email = claims.get("email")
    if not isinstance(email, str) or not email:
        message = "The provider sent no e-mail address; allow the scope 'email' for Clarion there"
        raise OidcProblem(message, OidcRefusal.NO_ADDRESS)
    is_verified = _is_verified(claims)
    if is_verified is False:
        raise OidcProblem("The provider has not verified the e-mail address", OidcRefusal.NOT_VERIFIED)
    if is_verified is None and not trusts_addresses:
        message = (
            "The provider does not say whether it has verified the e-mail address; if people cannot choose their "
            "addresses there, set CLARION_OIDC_TRUST_ADDRESSES to the address of the provider"
        )
        raise OidcProblem(message, OidcRefusal.VERIFICATION_UNKNOWN)
    name = claims.get("name")
    return Identity(email, name if isinstance(name, str) and name else email)


def _is_verified(claims: dict[str, Any]) -> bool | None:
    """Return whether the provider has verified the address; None if it does not say."""
    for name in _VERIFIED_CLAIMS:
        if claims.get(name) is not None:
            # Some providers send it as a text or a number.
            return str(claims[name]).lower() in ("true", "1")
    return None
